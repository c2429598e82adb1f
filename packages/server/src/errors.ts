import { CodedError } from '@slipway/base/coded-error';

/** Every code of the machine config server, with what it means. docs/errors.md says what to do about each. */
export const serverErrors = {
  SLW_SERVER_PATH: 'nothing is served under the path that was asked for',
  SLW_SERVER_POOL: 'there is no such pool',
  SLW_SERVER_METHOD: 'only GET and HEAD are answered',
  SLW_SERVER_REQUEST: 'the request is not one that a machine makes',
  SLW_SERVER_TOKEN: 'the request brings no valid provisioning token of the pool',
  SLW_SERVER_VERSION: 'the spec version that was asked for is not served',
  SLW_SERVER_NOT_SAID: 'the config says something that the spec version asked for cannot say',
  SLW_SERVER_NOT_RENDERED: 'the pool has no config to give yet',
  SLW_SERVER_BUSY: 'more machines ask than can be answered now',
  SLW_SERVER_PREPARE: 'the answers of a pool could not be made; the ones from before stay',
  SLW_SERVER_CERTIFICATE: 'the serving certificate cannot be used',
  SLW_SERVER_INPUT: 'a Secret or a file that the server answers from is missing or damaged',
  SLW_SERVER_LISTEN: 'the address to listen on cannot be had',
} as const;

export type ServerErrorCode = keyof typeof serverErrors;

export class ServerError extends CodedError<ServerErrorCode> {
  override readonly name = 'ServerError';
}
