const MAX = 48;

/** Enough of an image to tell two apart: what stands behind the last slash, and of that the end, where versions are. */
export function shortBootImage(image: string): string {
  const name = image.slice(image.lastIndexOf('/') + 1) || image;
  return name.length <= MAX ? name : `…${name.slice(1 - MAX)}`;
}
