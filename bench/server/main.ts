import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import type { IncomingMessage } from 'node:http';
import { get } from 'node:https';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { buffer } from 'node:stream/consumers';
import { buildCaBundle, issueServing, makeAuthority, servingData } from '@slipway/base/certificates';
import { startNginx } from '@slipway/tools/nginx';
import { compare, median } from '../comparison.ts';
import { buildLoadGenerator, type LoadReport } from './load-generator.ts';
import { POOL, startOurServer, token, writeBootstrap } from './our-server.ts';
import { cpuMs, peakMegabytes } from './usage.ts';

// Booting machines: a new TLS connection for each request, without session resumption. nginx serves the same bytes from
// a file with the same certificate and one worker.
const rounds = Number(process.env.BENCH_ROUNDS ?? 3);
const loads = [
  { clients: 1, requests: 300 },
  { clients: 16, requests: 800 },
  { clients: 200, requests: 1000 },
  { clients: 1000, requests: 3000 },
];
const warmUp = { clients: 16, requests: 1000 };
const goals = { throughput: 0.6, megabytes: 250 };
const ACCEPT = 'application/vnd.coreos.ignition+json;version=3.5.0, */*;q=0.1';
const path = `/config/${POOL}`;

interface Side {
  name: 'ours' | 'nginx';
  port: number;
  pids: number[];
}

interface Measured extends LoadReport {
  perSecond: number;
  cpuMsPerRequest: number;
}

const directory = await mkdtemp(join(tmpdir(), 'slipway-bench-server-'));
try {
  await main();
} finally {
  await rm(directory, { recursive: true, force: true });
}

async function main(): Promise<void> {
  const ask = await buildLoadGenerator(directory);
  const now = new Date();
  const day = 24 * 3_600_000;
  const authority = await makeAuthority(now, day);
  const serving = servingData(await issueServing(authority, ['127.0.0.1'], now, day));
  const certificate = { cert: serving['tls.crt'], key: serving['tls.key'] };
  await writeBootstrap(directory, certificate);
  const server = await startOurServer(directory);
  const answer = await fetchConfig(server.port, buildCaBundle(authority));
  const expect = join(directory, 'answer');
  await writeFile(expect, answer);
  const nginx = await startNginx({ files: { [path]: answer }, certificate: certificate.cert, key: certificate.key });
  try {
    const sides: Side[] = [
      { name: 'ours', port: server.port, pids: server.pids },
      { name: 'nginx', port: nginx.port, pids: await nginx.pids() },
    ];
    console.log(`a response of ${answer.length} bytes, a new TLS connection for each, median of ${rounds} rounds`);
    const measure = async ({ port, pids }: Side, load: { clients: number; requests: number }): Promise<Measured> => {
      const before = await cpuMs(pids);
      const report = await ask({ port, path, token, accept: ACCEPT, expect, ...load });
      const used = (await cpuMs(pids)) - before;
      return { ...report, perSecond: load.requests / report.seconds, cpuMsPerRequest: used / load.requests };
    };
    for (const side of sides) await measure(side, warmUp);
    for (const load of loads) {
      const results = { ours: new Array<Measured>(), nginx: new Array<Measured>() };
      // Alternating, so that load on the machine affects both.
      for (let round = 0; round < rounds; round += 1) {
        for (const side of sides) results[side.name].push(await measure(side, load));
      }
      printResults(load.clients, results);
      for (const side of sides) {
        console.log(`  ${side.name}: at most ${(await peakMegabytes(side.pids)).toFixed(0)} MB resident so far`);
      }
    }
    judgeMemory(await peakMegabytes(server.pids));
  } finally {
    await nginx.stop();
    await server.stop();
  }
}

function printResults(clients: number, results: Record<Side['name'], Measured[]>): void {
  const of = (side: Side['name'], field: 'perSecond' | 'p99Ms' | 'cpuMsPerRequest'): number =>
    median(results[side].map((each) => each[field]));
  for (const side of ['ours', 'nginx'] as const) {
    console.log(
      `${clients} concurrent clients, ${side}: ${of(side, 'perSecond').toFixed(0)} requests/s, p99 ${of(side, 'p99Ms').toFixed(0)} ms, ${of(side, 'cpuMsPerRequest').toFixed(2)} CPU ms per request`,
    );
    for (const { failed, errors } of results[side].filter(({ failed }) => failed > 0)) {
      miss(`${failed} requests to ${side} failed: ${errors.join('; ')}`);
    }
  }
  const cpu = { ours: of('ours', 'cpuMsPerRequest'), theirs: of('nginx', 'cpuMsPerRequest') };
  const perCore = { ours: 1000 / cpu.ours, theirs: 1000 / cpu.theirs };
  const throughput = compare('server', `throughput per core c=${clients}`, 'requests per CPU second', 'more', perCore);
  console.log(JSON.stringify(throughput));
  console.log(JSON.stringify(compare('server', `cpu per request c=${clients}`, 'ms', 'less', cpu)));
  if (throughput.ratio < goals.throughput) {
    miss(
      `at ${clients} clients the throughput per core is ${throughput.ratio} of nginx’s: the goal is ${goals.throughput}`,
    );
  }
}

function judgeMemory(megabytes: number): void {
  if (megabytes >= goals.megabytes)
    miss(`${megabytes.toFixed(0)} MB resident: the goal is less than ${goals.megabytes}`);
}

function miss(what: string): void {
  console.log(`MISSED: ${what}`);
  process.exitCode = 1;
}

async function fetchConfig(port: number, ca: string): Promise<Buffer> {
  const headers = { accept: ACCEPT, authorization: `Bearer ${token}` };
  const response = await new Promise<IncomingMessage>((resolve, reject) => {
    get({ host: '127.0.0.1', port, path, headers, ca }, resolve).on('error', reject);
  });
  const bytes = await buffer(response);
  if (response.statusCode !== 200) throw new Error(`the server responded ${response.statusCode}: ${bytes.toString()}`);
  return bytes;
}
