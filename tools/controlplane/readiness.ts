import { request } from 'node:https';
import { connect } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import type { Identity } from './certificates.ts';
import { ToolsError } from './errors.ts';
import { explainEnd, type Program } from './program.ts';

const READY_WITHIN_MS = 120_000;
const POLL_MS = 20;

/** Waits until /readyz returns ok, or throws as soon as one of the required programs has died. */
export function waitUntilReady(
  url: string,
  ca: string,
  identity: Identity,
  programs: readonly Program[],
): Promise<void> {
  return waitUntilOk(() => checkReady(url, ca, identity), programs);
}

/**
 * Waits until this etcd serves: only then does it listen. An API server that is started earlier is refused, and waits
 * one or two seconds before it retries.
 */
export function waitUntilServing(port: number, etcd: Program): Promise<void> {
  return waitUntilOk(() => checkConnection(port), [etcd]);
}

async function waitUntilOk(ask: () => Promise<string>, programs: readonly Program[]): Promise<void> {
  const until = Date.now() + READY_WITHIN_MS;
  let answer = 'no response yet';
  while (Date.now() < until) {
    for (const program of programs) await requireRunning(program);
    answer = await ask();
    if (answer === 'ok') return;
    await delay(POLL_MS);
  }
  const logs = programs.map((program) => program.logFile).join(', ');
  throw new ToolsError(
    'SLW_TOOLS_START_FAILED',
    `the control plane was not ready after ${READY_WITHIN_MS / 1000} s (${answer}): see ${logs}`,
  );
}

async function requireRunning(program: Program): Promise<void> {
  if (program.ended !== undefined) throw await diedError(program);
}

export async function diedError(program: Program): Promise<ToolsError> {
  const { name, ended, readyAt, logFile } = program;
  const lines = await explainEnd(program);
  const logged = lines.length === 0 ? 'It logged no error.' : `It logged: ${lines.join('; ')}.`;
  const when = readyAt === undefined ? ' while starting' : '';
  return new ToolsError('SLW_TOOLS_START_FAILED', `${name} died${when} (${ended}). ${logged} Its log: ${logFile}`);
}

function checkReady(url: string, ca: string, { certificate, key }: Identity): Promise<string> {
  return new Promise((resolve) => {
    const asked = request(`${url}/readyz`, { ca, cert: certificate, key, agent: false, timeout: 5000 }, (response) => {
      response.resume();
      resolve(response.statusCode === 200 ? 'ok' : `status ${response.statusCode}`);
    });
    asked.on('timeout', () => asked.destroy(new Error('timed out')));
    asked.on('error', (error) => resolve(error.message));
    asked.end();
  });
}

function checkConnection(port: number): Promise<string> {
  return new Promise((resolve) => {
    const asked = connect(port, '127.0.0.1');
    asked.on('connect', () => {
      asked.destroy();
      resolve('ok');
    });
    asked.on('error', (error) => resolve(error.message));
  });
}
