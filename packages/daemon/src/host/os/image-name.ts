const DIGEST = /@(sha256:[0-9a-f]{64})$/;
const SCHEME =
  /^(?:ostree-unverified-registry|ostree-unverified-image|ostree-image-signed|ostree-remote-registry:[^:]+|ostree-remote-image:[^:]+):/;
const TRANSPORT = /^(?:docker:\/\/|registry:|containers-storage:(?:\[[^\]]*\])?|oci:|oci-archive:|docker-daemon:)/;

/** The digest that an image is named by; '' where it is named by a tag. */
export function digestOf(image: string): string {
  return DIGEST.exec(image)?.[1] ?? '';
}

/** As osImageURL has it, of a reference as ostree keeps it: without scheme and transport. */
export function imageOfReference(reference: string): string {
  return reference.replace(SCHEME, '').replace(TRANSPORT, '');
}
