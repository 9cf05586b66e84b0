"""The picture of a network: what there is to draw (scene), where it goes (layout), how it looks (svg), what is known of
its parts (facts), and what happened (columns). `picture` has all of it, as a still and as a widget.
"""
