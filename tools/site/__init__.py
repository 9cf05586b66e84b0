"""What the documentation site has of its own: commands that are run (`terminal`), the command line's options
(`commands`), and a look at every link of what was built (`links`). `docs/conf.py` loads the first two."""
