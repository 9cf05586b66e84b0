# Linklab in a container, one recipe for all doors: a student's server of a JupyterHub (docs/jupyterhub.md), a dev
# container or a Codespace (.devcontainer), and Binder, which takes the Dockerfile in a repository's topmost folder.
#
#     podman build --target server --tag linklab-hub .
#
# It runs as an ordinary user without any capability. Labs boot from the lab image, so the container has Python and no
# network tools; it needs no namespaces either, since the container itself confines the labs. Solutions are in none of
# its layers.

ARG SUITE=trixie

FROM docker.io/library/debian:${SUITE}-slim AS python
RUN apt-get update \
    && apt-get install -y --no-install-recommends python3 python3-venv \
    && rm -rf /var/lib/apt/lists/*

# Of this stage only /opt/linklab and /var/lib/linklab go on.
FROM python AS made
WORKDIR /kit
COPY requirements.txt requirements.lock pyproject.toml setup.py MANIFEST.in README.md LICENSE ./
COPY labs labs
COPY solutions/simpleperf.py solutions/simpleperf.py
COPY studies studies
COPY lib lib
COPY tools/__init__.py tools/
COPY tools/image tools/image
RUN python3 -m venv /opt/linklab \
    && awk '/^[a-z]/ { ours = /^(uv|setuptools)==/ } ours' requirements.lock >first.txt \
    && /opt/linklab/bin/pip install --no-cache-dir --require-hashes --requirement first.txt \
    && /opt/linklab/bin/uv pip install --no-cache --python /opt/linklab/bin/python --no-build-isolation \
        --constraints requirements.lock --verify-hashes --requirements requirements.txt '.[hub]'
# The lab image is put together here, which takes half a minute or so.
RUN /opt/linklab/bin/python -m tools.image \
    && mkdir /var/lib/linklab \
    && cp -a "$(/opt/linklab/bin/linklab image path)" /var/lib/linklab/image

FROM python AS server
# Binder says which user it wants.
ARG NB_USER=student
ARG NB_UID=1000
# setuid programs are of no use where no privileges can be gained
RUN useradd --uid ${NB_UID} --user-group --create-home --shell /bin/bash ${NB_USER} \
    && find / -xdev -type f -perm /6000 -exec chmod a-s {} + \
    && echo 'PATH=/opt/linklab/bin:$PATH' >/etc/profile.d/linklab.sh
COPY --from=made /var/lib/linklab /var/lib/linklab
COPY --from=made /opt/linklab /opt/linklab
ENV PATH=/opt/linklab/bin:/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin \
    LANG=C.UTF-8 \
    LINKLAB_CONFINEMENT=container \
    LINKLAB_IMAGE=/var/lib/linklab/image \
    HOME=/home/${NB_USER} \
    USER=${NB_USER}
USER ${NB_UID}:${NB_UID}
WORKDIR /home/${NB_USER}
EXPOSE 8888
CMD ["python", "-m", "linklab.hub.start"]

# Binder starts Jupyter itself, in the last stage's folder, so the labs are there already.
FROM server
RUN ["python", "-c", "from linklab.hub.start import prepare_folder; prepare_folder()"]
WORKDIR ${HOME}/labs
