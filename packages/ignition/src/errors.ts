/** Every error code of resolve and its meaning; docs/errors.md lists what to do. Match on codes, never on the text. */
export const resolveErrors = {
  SLW_RESOLVE_SCHEME: 'a reference uses an unsupported scheme, such as s3, gs or tftp',
  SLW_RESOLVE_URL: 'a reference is not a URL',
  SLW_RESOLVE_HOST: 'the host or address of a reference is not allowed',
  SLW_RESOLVE_FETCH: 'the server did not return the referenced content',
  SLW_RESOLVE_HEADER: 'a reference has an invalid header',
  SLW_RESOLVE_HASH: 'the fetched content does not match the hash in the reference',
  SLW_RESOLVE_GZIP: 'the fetched content is not gzip, although the reference specifies it',
  SLW_RESOLVE_DATA_URL: 'a data URL cannot be read',
  SLW_RESOLVE_CA: 'a certificate authority of the config is not a PEM certificate',
  SLW_RESOLVE_LIMIT: 'a limit on size, count or depth was exceeded',
  SLW_RESOLVE_TIME: 'the time limit was exceeded',
  SLW_RESOLVE_LOOP: 'a config refers to itself, directly or through others',
  SLW_RESOLVE_CONFIG: 'a fetched config is not valid',
  SLW_RESOLVE_RESULT: 'the resolved config is not valid',
} as const;

export type ResolveCode = keyof typeof resolveErrors;
