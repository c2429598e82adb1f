import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Log } from '@slipway/kube';
import type { AnswerBook } from './book.ts';
import { comeBack, decide, refuse } from './decide.ts';
import type { ConfigRequest, Refusal } from './decide.ts';
import type { Gate } from './gate.ts';
import type { ServerMetrics } from './metrics.ts';
import { recordFetch } from './record.ts';
import type { Exchange } from './record.ts';
import { boundSending, sendInPieces } from './send.ts';
import type { SendLimits } from './send.ts';
import type { Inputs } from './source.ts';

export interface HandlerOptions {
  inputs(): Pick<Inputs, 'pools' | 'tokens'>;
  isBehind(): boolean;
  allowAnonymous: boolean;
  book: AnswerBook;
  gate: Gate;
  limits: SendLimits;
  metrics: ServerMetrics;
  log: Log;
}

export type Handler = (request: IncomingMessage, response: ServerResponse) => void;

export function createHandler(options: HandlerOptions): Handler {
  const { book, gate, limits, log } = options;

  function handle(request: IncomingMessage, response: ServerResponse): void {
    boundSending(response, limits);
    const decision = decide(askedBy(request), options.inputs(), {
      allowAnonymous: options.allowAnonymous,
      behind: options.isBehind(),
      now: Date.now(),
    });
    const exchange: Exchange = { request, response, decision, started: performance.now(), bytes: 0 };
    response.on('close', () => recordFetch(exchange, options));
    if (decision.to === 'health') sendText(exchange, 200, 'ok\n');
    else if (decision.to === 'refuse') sendRefusal(exchange, decision);
    else
      answerConfig(exchange, decision).catch((error: unknown) => {
        log.error({ err: error, pool: decision.pool }, 'a request failed');
        response.destroy();
      });
  }

  async function answerConfig(exchange: Exchange, asked: ConfigRequest): Promise<void> {
    const answers = book.find(asked.pool);
    if (answers === undefined) {
      const message = `MachineConfigPool ${asked.pool} has no config to give yet`;
      return sendRefusal(exchange, comeBack('SLW_SERVER_NOT_RENDERED', message, 5));
    }
    exchange.rendered = answers.rendered;
    const answer = await answers.answerIn(asked.version);
    if (!answer.ok) return sendRefusal(exchange, refuse(400, 'SLW_SERVER_NOT_SAID', answer.message));
    sendInTurn(exchange, answer[asked.form], asked.form === 'gzip' ? 'application/gzip' : 'application/json');
  }

  function sendInTurn(exchange: Exchange, bytes: Buffer, type: string): void {
    const { request, response } = exchange;
    // The client may have gone while its version was prepared.
    if (response.destroyed) return;
    if (request.method === 'HEAD') {
      response.writeHead(200, headersFor(bytes, type));
      response.end();
      return;
    }
    const ticket = gate.enter({
      begin() {
        exchange.bytes = bytes.length;
        response.writeHead(200, headersFor(bytes, type));
        sendInPieces(response, bytes, limits.pieceBytes);
      },
      giveUp: () => sendBusy(exchange),
      cutOff: () => response.destroy(),
    });
    if (ticket === undefined) sendBusy(exchange);
    else response.on('close', () => ticket.leave());
  }

  function sendBusy(exchange: Exchange): void {
    const seconds = Math.min(Math.max(1, Math.ceil(gate.expectedWaitMs() / 1000)), 60);
    const message = 'more machines ask for their config than can be answered now';
    sendRefusal(exchange, comeBack('SLW_SERVER_BUSY', message, seconds));
  }

  return handle;
}

const askedBy = ({ method, url, headers }: IncomingMessage): Parameters<typeof decide>[0] => ({
  method,
  url,
  accept: headers.accept,
  authorization: headers.authorization,
  contentLength: headers['content-length'],
  transferEncoding: headers['transfer-encoding'],
});

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
