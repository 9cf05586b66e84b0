"""Teaching on a server: JupyterHub gives each student a server of their own (docs/jupyterhub.md)."""
