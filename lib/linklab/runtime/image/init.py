"""The first program of a guest, which lies in the lab image as /usr/lib/linklab/init.py."""
