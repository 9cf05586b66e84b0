"""The drawing of networks: what there is to draw (scene), where it goes (layout), and how it looks (paint)."""
