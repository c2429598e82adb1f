// Handles a request: decide, wait for a slot, send in pieces, record.
import type { IncomingMessage, ServerResponse } from 'node:http';
import { truncate } from '@slipway/base/text';
import type { Log } from '@slipway/kube';
import type { AdmissionQueue } from './admission-queue.ts';
import { clientOfAddress } from './connections.ts';
import { comeBack, type ConfigRequest, decide, type Decision, type Refusal, refuse } from './decide.ts';
import type { ServerMetrics } from './metrics.ts';
import type { PreparedAnswers } from './prepared-answers.ts';
import type { RefusalLog } from './refusal-log.ts';
import type { Inputs } from './source.ts';

export interface SendLimits {
  /** How much of a response is encrypted ahead of what the client has read. */
  pieceBytes: number;
  /** A client that reads nothing for this long is disconnected. */
  stallMs: number;
  /** So is one that is not done after this long. */
  totalMs: number;
}

interface HandlerOptions {
  inputs(): Pick<Inputs, 'pools' | 'tokens'>;
  isBehind(): boolean;
  allowAnonymous: boolean;
  book: PreparedAnswers;
  gate: AdmissionQueue;
  limits: SendLimits;
  metrics: ServerMetrics;
  log: Log;
  refusals: RefusalLog;
}

/** Returns whether the request is of an authorized machine. */
type Handler = (request: IncomingMessage, response: ServerResponse) => boolean;

/** A request in progress, and what is logged about it at the end. */
interface Exchange {
  request: IncomingMessage;
  response: ServerResponse;
  decision: Decision;
  /** The client's address, which its socket no longer has once it is closed. */
  from: string;
  started: number;
  rendered?: string;
  /** Bytes of the config, once the response has started. */
  bytes: number;
}

export function createHandler(options: HandlerOptions): Handler {
  const { book, gate, limits, log } = options;

  function handle(request: IncomingMessage, response: ServerResponse): boolean {
    boundSending(response, limits);
    const decision = decide(request, options.inputs(), {
      allowAnonymous: options.allowAnonymous,
      behind: options.isBehind(),
      now: Date.now(),
    });
    const from = request.socket.remoteAddress ?? '';
    const exchange: Exchange = { request, response, decision, from, started: performance.now(), bytes: 0 };
    response.on('close', () => recordFetch(exchange, options));
    if (decision.to === 'health') sendText(exchange, 200, 'ok\n');
    else if (decision.to === 'refuse') sendRefusal(exchange, decision);
    else
      answerConfig(exchange, decision).catch((error: unknown) => {
        log.error({ err: error, pool: decision.pool }, 'request failed');
        response.destroy();
      });
    return decision.to === 'config';
  }

  async function answerConfig(exchange: Exchange, asked: ConfigRequest): Promise<void> {
    const answers = book.find(asked.pool);
    if (answers === undefined) {
      const message = `MachineConfigPool ${asked.pool} has no rendered config yet`;
      return sendRefusal(exchange, comeBack('SLW_SERVER_NOT_RENDERED', message, 5));
    }
    exchange.rendered = answers.rendered;
    const answer = await answers.answerIn(asked.version);
    if (!answer.ok) return sendRefusal(exchange, refuse(400, 'SLW_SERVER_NOT_SAID', answer.message));
    sendInTurn(exchange, answer[asked.form], asked.form === 'gzip' ? 'application/gzip' : 'application/json');
  }

  function sendInTurn(exchange: Exchange, bytes: Buffer, type: string): void {
    const { request, response } = exchange;
    // The client may have disconnected while its version was prepared.
    if (response.destroyed) return;
    if (request.method === 'HEAD') {
      response.writeHead(200, headersFor(bytes, type));
      response.end();
      return;
    }
    const slot = gate.enter({
      begin() {
        exchange.bytes = bytes.length;
        response.writeHead(200, headersFor(bytes, type));
        sendInPieces(response, bytes, limits.pieceBytes);
      },
      giveUp: () => sendBusy(exchange),
      cutOff: () => response.destroy(),
    });
    if (slot === undefined) sendBusy(exchange);
    else response.on('close', () => slot.leave());
  }

  function sendBusy(exchange: Exchange): void {
    const seconds = Math.min(Math.max(1, Math.ceil(gate.expectedWaitMs() / 1000)), 60);
    const message = 'more machines request their config than the server can answer right now';
    sendRefusal(exchange, comeBack('SLW_SERVER_BUSY', message, seconds));
  }

  return handle;
}

const always = { connection: 'close', 'cache-control': 'no-store', 'x-content-type-options': 'nosniff' };

const headersFor = (bytes: Buffer, type: string): Record<string, string | number> => ({
  ...always,
  'content-type': type,
  'content-length': bytes.length,
});

function sendText(exchange: Exchange, status: number, text: string, headers: Record<string, string> = {}): void {
  const { request, response } = exchange;
  const bytes = Buffer.from(text);
  response.writeHead(status, { ...headers, ...headersFor(bytes, 'text/plain; charset=utf-8') });
  response.end(request.method === 'HEAD' ? undefined : bytes);
}

function sendRefusal(exchange: Exchange, refusal: Refusal): void {
  const { decision } = exchange;
  exchange.decision = 'pool' in decision && decision.pool !== undefined ? { ...refusal, pool: decision.pool } : refusal;
  sendText(exchange, refusal.status, `${refusal.message} [${refusal.code}]\n`, refusal.headers);
}

/** A client that does not read its bytes is disconnected, whatever is being sent. */
function boundSending(response: ServerResponse, { stallMs, totalMs }: SendLimits): void {
  const cut = (): void => {
    response.destroy();
  };
  const total = setTimeout(cut, totalMs);
  response.setTimeout(stallMs, cut);
  response.on('close', () => clearTimeout(total));
}

/**
 * Sends the bytes piece by piece, each when the previous one has been sent: a thousand concurrent clients hold a
 * thousand pieces, not a thousand responses. The bytes are shared.
 */
function sendInPieces(response: ServerResponse, bytes: Buffer, pieceBytes: number): void {
  let at = 0;
  const sendMore = (): void => {
    while (at + pieceBytes < bytes.length) {
      const piece = bytes.subarray(at, at + pieceBytes);
      at += pieceBytes;
      if (!response.write(piece)) {
        response.once('drain', sendMore);
        return;
      }
    }
    response.end(bytes.subarray(at));
  };
  sendMore();
}

/** Logs the client, the request and its result. Never the token, and of the query only the form. */
function recordFetch(exchange: Exchange, options: HandlerOptions): void {
  const { metrics, log, refusals } = options;
  const { request, response, decision, rendered, bytes } = exchange;
  const ms = Math.round(performance.now() - exchange.started);
  const status = response.headersSent ? response.statusCode : 0;
  const asked = describeRequest(decision);
  const agent = request.headers['user-agent'];
  // Made-up names must not become metric series.
  const pool = 'pool' in decision ? (decision.pool ?? '') : '';
  metrics.fetched({ ...asked, pool: options.inputs().pools.has(pool) ? pool : '', status, bytes, ms });
  if (decision.to === 'health') return;
  const fields = {
    from: exchange.from,
    agent: agent === undefined ? undefined : truncate(agent, 100),
    method: request.method,
    pool: decision.pool,
    ...asked,
    rendered,
    status,
    bytes,
    ms,
  };
  const client = clientOfAddress(exchange.from);
  if (!response.writableFinished)
    refusals.warn(client, fields, 'machine disconnected, or was cut off, before it received its config');
  else if (decision.to === 'refuse') refusals.warn(client, { ...fields, code: decision.code }, 'request refused');
  else log.info(fields, 'sent a machine its config');
}

const describeRequest = (decision: Decision): { version: string; form: string; access?: string } => {
  if (decision.to !== 'config') return { version: '', form: '' };
  const { version, form, access } = decision;
  return { version, form, access };
};
