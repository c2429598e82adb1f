import { HIDDEN, maskSecrets } from '@slipway/base/masking';
import { pino } from 'pino';
import type { DestinationStream, Logger } from 'pino';

export type Log = Logger;

export const logLevels = ['debug', 'info', 'warn', 'error'] as const;
export type LogLevel = (typeof logLevels)[number];

export interface LogOptions {
  level?: LogLevel | undefined;
  /** The program's name, on every line. */
  name?: string | undefined;
  /** Human-readable lines instead of JSON; the default if stderr is a terminal. */
  pretty?: boolean | undefined;
  /** Output; stderr by default. */
  write?: ((line: string) => void) | undefined;
}

/** JSON lines on stderr, or short lines on a terminal. Secrets are removed before anything is written. */
export function createLog({
  level = 'info',
  name,
  pretty = process.stderr.isTTY,
  write = writeToStderr,
}: LogOptions = {}): Log {
  const destination: DestinationStream = { write: pretty ? (line) => write(prettyLine(line)) : write };
  return pino(
    {
      level,
      base: name === undefined ? {} : { name },
      timestamp: () => `,"time":"${new Date().toISOString()}"`,
      formatters: {
        level: (label) => ({ level: label }),
        log: (fields) => mask(fields),
      },
      serializers: { err: describeError, error: describeError },
      hooks: { streamWrite: maskLine },
    },
    destination,
  );
}

/** For programs and tests that log nothing. */
export const silentLog = (): Log => pino({ enabled: false });

/** Written synchronously: no line is lost in a buffer when the process exits, and no thread is needed. */
function writeToStderr(line: string): void {
  process.stderr.write(line);
}

// Not `secret`: that field contains the name of a Secret.
const SECRET_NAME =
  '(?:authorization|proxy-authorization|cookie|set-cookie|(?:[\\w.-]*[-_])?(?:token|password|private-?key)|[a-z]*(?:Token|Password|PrivateKey)|client-?secret|client-key-data)';
const secretField = new RegExp(`^${SECRET_NAME}$`, 'i');
const MAX_DEPTH = 6;
const MAX_ENTRIES = 100;

/** Removes secrets from the fields of a log line: known field names, and the contents of Secret objects. */
export function mask(fields: object): Record<string, unknown> {
  return maskObject(fields, 0);
}

function maskObject(value: object, depth: number): Record<string, unknown> {
  const isSecret = 'kind' in value && value.kind === 'Secret';
  const entries = Object.entries(value).slice(0, MAX_ENTRIES);
  return Object.fromEntries(
    entries.map(([name, field]) => [name, isHidden(name, isSecret) ? hide(field) : maskValue(field, depth + 1)]),
  );
}

// Also a Secret's annotations: `kubectl apply` stores the whole object in one of them.
const isHidden = (name: string, isSecret: boolean): boolean =>
  secretField.test(name) || (isSecret && ['data', 'stringData', 'metadata'].includes(name));

const hide = (field: unknown): unknown => (field === undefined || field === null || field === '' ? field : HIDDEN);

function maskValue(value: unknown, depth: number): unknown {
  if (typeof value !== 'object' || value === null || value instanceof Error) return value;
  if (value instanceof Date) return value;
  if (depth > MAX_DEPTH) return '…';
  if (Array.isArray(value)) return value.slice(0, MAX_ENTRIES).map((item) => maskValue(item, depth + 1));
  return maskObject(value, depth);
}

/** Secrets in the fields of child loggers, and in every text by its content. `line` is JSON. */
export const maskLine = (line: string): string => `${JSON.stringify(JSON.parse(line), hideSecrets)}\n`;

/** The time of a line has no secret, and is different each time. */
const TIME = /^\d{4}-\d\d-\d\dT[\d:.]{8,12}Z$/;

const hideSecrets = (name: string, value: unknown): unknown => {
  if (typeof value !== 'string' || TIME.test(value)) return value;
  return secretField.test(name) ? hide(value) : maskSecrets(value);
};

/**
 * Logs only what a reader needs: other fields of an error can contain whole responses and headers. Only bugs log a
 * stack: the message of an error with an SLW_ code is sufficient.
 */
function describeError(error: unknown, depth = 0): object {
  if (!(error instanceof Error)) return { message: String(error) };
  const code = 'code' in error ? String(error.code) : undefined;
  const expected = code?.startsWith('SLW_') === true;
  return {
    type: error.name,
    ...(code === undefined ? {} : { code }),
    message: error.message,
    ...(expected || error.stack === undefined ? {} : { stack: error.stack }),
    ...(error.cause === undefined || depth >= 3 ? {} : { cause: describeError(error.cause, depth + 1) }),
  };
}

const colours: Record<string, string> = { debug: '\u001b[2m', warn: '\u001b[33m', error: '\u001b[31m' };
const PLAIN = '\u001b[0m';

/** `12:34:56 WARN  render worker: cannot … pool=worker`; a bug's stack follows on separate lines. */
export function prettyLine(line: string): string {
  const { level, time, msg, err, name: _, ...fields } = JSON.parse(line) as Record<string, unknown>;
  const label = String(level);
  const rest = Object.entries(fields).map(
    ([name, value]) => `${name}=${typeof value === 'string' ? value : JSON.stringify(value)}`,
  );
  const words = [
    String(time).slice(11, 19),
    `${colours[label] ?? ''}${label.toUpperCase().padEnd(5)}${colours[label] === undefined ? '' : PLAIN}`,
    ...(typeof msg === 'string' ? [msg] : []),
    ...(isErrorText(err) ? [`(${err.message})`] : []),
    ...rest,
  ];
  const stack = isErrorText(err) && err.stack !== undefined ? `\n${err.stack}` : '';
  return `${words.join(' ')}${stack}\n`;
}

const isErrorText = (value: unknown): value is { message: string; stack?: string } =>
  typeof value === 'object' && value !== null && 'message' in value;
