import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Log } from '@slipway/kube';
import type { Decision } from './decide.ts';
import type { ServerMetrics } from './metrics.ts';

/** A request on its way through, and what is told about it at the end. */
export interface Exchange {
  request: IncomingMessage;
  response: ServerResponse;
  decision: Decision;
  started: number;
  rendered?: string;
  /** Bytes of the config, as far as it was begun. */
  bytes: number;
}

/** Who asked for what, when, and what came of it. Never the token, and of the query only the form. */
export function recordFetch(exchange: Exchange, { metrics, log }: { metrics: ServerMetrics; log: Log }): void {
  const { request, response, decision, rendered, bytes } = exchange;
  const ms = Math.round(performance.now() - exchange.started);
  const status = response.headersSent ? response.statusCode : 0;
  const asked = askedFor(decision);
  metrics.fetched({ ...asked, pool: knownPool(decision), status, bytes, ms });
  if (decision.to === 'health') return;
  const fields = {
    from: request.socket.remoteAddress,
    agent: request.headers['user-agent']?.slice(0, 100),
    method: request.method,
    pool: decision.pool,
    ...asked,
    rendered,
    status,
    bytes,
    ms,
  };
  if (!response.writableFinished) log.warn(fields, 'a machine went away, or was cut off, before it had its answer');
  else if (decision.to === 'refuse') log.warn({ ...fields, code: decision.code }, 'a request was refused');
  else log.info(fields, 'gave a machine its config');
}

const askedFor = (decision: Decision): { version: string; form: string; access?: string } => {
  if (decision.to !== 'config') return { version: '', form: '' };
  const { version, form, access } = decision;
  return { version, form, access };
};

/** Names that somebody made up must not become series of a metric. */
function knownPool(decision: Decision): string {
  if (decision.to === 'health' || (decision.to === 'refuse' && decision.status === 404)) return '';
  return decision.pool ?? '';
}
