"""What builds a lane's image from source: a folder for buildah, podman or docker."""
