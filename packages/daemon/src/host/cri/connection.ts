// The way to the runtime's socket. A connection that is lost is made again at the next call, and calls fail at once while there
// is none: who calls knows when it is worth another try.
import { Client, credentials, status } from '@grpc/grpc-js';
import type { Method } from './messages.ts';

/** A list of some 10,000 images has 5 MB. */
const MOST_BYTES = 32 * 1024 * 1024;

const NO_ANSWER = { code: status.INTERNAL, details: 'an answer without a message' };

export interface CallOptions {
  /** null: it takes as long as it takes. */
  readonly withinMs: number | null;
  readonly signal: AbortSignal;
}

/** `code` is that of gRPC; `said` is the runtime's own text, or what is wrong with the way to it. */
export class CallError extends Error {
  override readonly name = 'CallError';
  readonly code: number;
  readonly said: string;

  constructor({ code, details }: { readonly code: number; readonly details: string }) {
    super(`gRPC code ${code}: ${details}`);
    this.code = code;
    this.said = details;
  }
}

export interface Connection {
  /** Rejects with a CallError, or with the signal's reason. */
  call<Request, Response>(method: Method<Request, Response>, request: Request, options: CallOptions): Promise<Response>;
  close(): void;
}

export function connect(socket: string, mostBytes = MOST_BYTES): Connection {
  const client = new Client(`unix://${socket}`, credentials.createInsecure(), {
    'grpc.max_receive_message_length': mostBytes,
    'grpc.initial_reconnect_backoff_ms': 100,
    // A runtime that is back is found within this.
    'grpc.max_reconnect_backoff_ms': 2000,
    'grpc.enable_channelz': 0,
  });
  return {
    call: (method, request, { withinMs, signal }) =>
      new Promise((resolve, reject) => {
        signal.throwIfAborted();
        const call = client.makeUnaryRequest(
          method.path,
          method.encode,
          method.decode,
          request,
          withinMs === null ? {} : { deadline: Date.now() + withinMs },
          (error, response) => {
            signal.removeEventListener('abort', onAbort);
            if (response !== undefined) resolve(response);
            else reject(signal.aborted ? signal.reason : new CallError(error ?? NO_ANSWER));
          },
        );
        const onAbort = () => call.cancel();
        signal.addEventListener('abort', onAbort, { once: true });
      }),
    close: () => client.close(),
  };
}
