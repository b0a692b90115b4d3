"""A lane's image by buildah, podman or docker, all from one Containerfile."""
