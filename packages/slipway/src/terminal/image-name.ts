/** `registry.example.com/os@sha256:1f2e3d4c5b6a…`: enough to tell two images apart. */
export const shortImage = (reference: string): string =>
  reference.replace(/(@sha256:[0-9a-f]{12})[0-9a-f]{52}$/, '$1…');

/** The same of every image in a text. */
export const shortImages = (text: string): string =>
  text.replaceAll(/(@sha256:[0-9a-f]{12})[0-9a-f]{52}(?![0-9a-f])/g, '$1…');
