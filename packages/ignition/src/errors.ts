/** Every code of a resolve, with what it means. docs/errors.md says what to do about each. Callers and tests tell failures apart by these, never by the text. */
export const resolveErrors = {
  SLW_RESOLVE_SCHEME: 'a reference uses a scheme that is not fetched here, such as s3, gs or tftp',
  SLW_RESOLVE_URL: 'a reference is not a URL',
  SLW_RESOLVE_HOST: 'the host or address of a reference is not allowed',
  SLW_RESOLVE_FETCH: 'the server did not give what a reference names',
  SLW_RESOLVE_HEADER: 'a header of a reference cannot be sent',
  SLW_RESOLVE_HASH: 'what was fetched has another hash than the reference says',
  SLW_RESOLVE_GZIP: 'what was fetched is not the gzip that the reference says',
  SLW_RESOLVE_DATA_URL: 'a data URL cannot be read',
  SLW_RESOLVE_CA: 'a certificate authority of the config is not a PEM certificate',
  SLW_RESOLVE_LIMIT: 'a limit on size, count or depth was passed',
  SLW_RESOLVE_TIME: 'the time limit was passed',
  SLW_RESOLVE_LOOP: 'a config refers to itself, directly or through others',
  SLW_RESOLVE_CONFIG: 'a fetched config is not valid',
  SLW_RESOLVE_RESULT: 'the config with everything in it is not valid',
} as const;

export type ResolveCode = keyof typeof resolveErrors;
