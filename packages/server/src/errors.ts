import { CodedError } from '@slipway/base/coded-error';

/** Every error code of the machine config server and its meaning. docs/errors.md lists what to do about each. */
export const serverErrors = {
  SLW_SERVER_PATH: 'the requested path does not exist',
  SLW_SERVER_POOL: 'the requested pool does not exist',
  SLW_SERVER_METHOD: 'only GET and HEAD are allowed',
  SLW_SERVER_REQUEST: 'the request is not one that a booting machine sends',
  SLW_SERVER_TOKEN: 'the request has no valid provisioning token for the pool',
  SLW_SERVER_VERSION: 'the requested spec version is not supported',
  SLW_SERVER_NOT_SAID: 'the config uses a field that the requested spec version does not have',
  SLW_SERVER_NOT_RENDERED: 'the pool has no rendered config yet',
  SLW_SERVER_BUSY: 'more machines request a config than the server can answer right now',
  SLW_SERVER_PREPARE: 'the responses for a pool could not be prepared; the previous ones are still served',
  SLW_SERVER_CERTIFICATE: 'the serving certificate cannot be used',
  SLW_SERVER_INPUT: 'a Secret or file that the server needs is missing or damaged',
  SLW_SERVER_LISTEN: 'the server cannot listen on its address',
} as const;

export type ServerErrorCode = keyof typeof serverErrors;

export class ServerError extends CodedError<ServerErrorCode> {
  override readonly name = 'ServerError';
}
