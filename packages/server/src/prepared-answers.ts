// The response bytes for machines: prepared when a pool changes, served until the next ones are complete.
import { createHash } from 'node:crypto';
import { promisify } from 'node:util';
import { gzip } from 'node:zlib';
import type { MachineConfig } from '@slipway/api';
import { type Backoff, backoffMs } from '@slipway/base/backoff';
import { firstBootConfig, isRenderedAs, type JoiningNode } from '@slipway/fleet';
import { type AnyConfig, parse, type SpecVersion, translate, validate } from '@slipway/ignition';
import type { Log } from '@slipway/kube';
import type { Form } from './decide.ts';
import { ServerError } from './errors.ts';
import type { ServerMetrics } from './metrics.ts';
import type { Inputs, Source } from './source.ts';

/** The bytes of one spec version in both forms, or why that version cannot express the config. */
type PreparedAnswer = ({ ok: true } & Readonly<Record<Form, Buffer>>) | { ok: false; message: string };

/** All responses for a pool's new machines, for one rendered config. */
export interface PoolAnswers {
  readonly rendered: string;
  /** The version's bytes; those of rarely requested versions are prepared on first use. */
  answerIn(version: SpecVersion): Promise<PreparedAnswer>;
  /** Bytes in memory. */
  size(): number;
}

/** The prepared responses of every pool. They follow the inputs; old ones are served until the new are complete. */
export interface PreparedAnswers {
  find(pool: string): PoolAnswers | undefined;
  /** Accepts new inputs and prepares what they change, one pool after another. */
  update(inputs: Inputs): void;
  /** Resolves when nothing is left to prepare. */
  settled(): Promise<void>;
  stop(): void;
}

interface PreparedPool {
  /** The inputs of the responses. */
  of: string;
  answers: PoolAnswers;
}

/** The last failure, how often it happened, and whether it is too early to retry. */
interface Failure {
  of: string;
  attempts: number;
  resting: boolean;
}

const retryBackoff: Backoff = { firstMs: 1000, maxMs: 30_000 };

export function createPreparedAnswers(source: Source, metrics: ServerMetrics, log: Log): PreparedAnswers {
  const preparedPools = new Map<string, PreparedPool>();
  const failures = new Map<string, Failure>();
  let inputs: Inputs | undefined;
  let nodeDigest = '';
  let working: Promise<void> | undefined;
  let retry: NodeJS.Timeout | undefined;
  let stopped = false;

  const recipe = (rendered: string): string => `${rendered} ${nodeDigest}`;

  function isStale(pool: string, of: string): boolean {
    const failure = failures.get(pool);
    return preparedPools.get(pool)?.of !== of && !(failure?.of === of && failure.resting);
  }

  /** A pool whose responses do not match its inputs. */
  function nextStale(): { pool: string; rendered: string; node: JoiningNode } | undefined {
    const node = inputs?.node;
    if (node === undefined || stopped) return undefined;
    for (const [pool, rendered] of inputs?.pools ?? []) {
      if (rendered !== undefined && isStale(pool, recipe(rendered))) return { pool, rendered, node };
    }
    return undefined;
  }

  async function work(): Promise<void> {
    for (let stale = nextStale(); stale !== undefined; stale = nextStale()) {
      const { pool, rendered, node } = stale;
      const of = recipe(rendered);
      try {
        await prepare(pool, of, rendered, node);
      } catch (error) {
        fail(pool, of, rendered, error);
      }
    }
  }

  async function prepare(pool: string, of: string, rendered: string, node: JoiningNode): Promise<void> {
    const started = performance.now();
    const config = await source.load(rendered);
    if (!(await isRenderedAs(rendered, pool, config.spec))) throw notRendered(rendered, pool);
    const answers = await prepareAnswers(config, node);
    // The pool may be gone by now. If only its inputs have changed, it is stale and will be prepared again.
    if (inputs?.pools.has(pool) !== true) return;
    preparedPools.set(pool, { of, answers });
    failures.delete(pool);
    metrics.prepared(pool, answers.size());
    const ms = Math.round(performance.now() - started);
    log.info({ pool, rendered, bytes: answers.size(), ms }, 'responses prepared');
  }

  function fail(pool: string, of: string, rendered: string, error: unknown): void {
    const before = failures.get(pool);
    const attempts = before?.of === of ? before.attempts + 1 : 1;
    failures.set(pool, { of, attempts, resting: true });
    metrics.notPrepared(pool);
    const servedInstead = preparedPools.get(pool)?.answers.rendered ?? 'nothing';
    log.error({ err: error, pool, rendered, servedInstead }, 'the responses for a pool could not be prepared');
    retry ??= setTimeout(retryAll, backoffMs(retryBackoff, attempts));
  }

  function retryAll(): void {
    retry = undefined;
    for (const failure of failures.values()) failure.resting = false;
    begin();
  }

  function begin(): void {
    working ??= work().finally(() => {
      working = undefined;
      // Something may have changed since the last check.
      if (nextStale() !== undefined) begin();
    });
  }

  const settled = async (): Promise<void> => {
    if (working !== undefined) await working.then(settled);
  };

  return {
    find: (pool) => preparedPools.get(pool)?.answers,
    update(changed) {
      inputs = changed;
      nodeDigest = changed.node === undefined ? '' : computeDigest(changed.node);
      for (const pool of [...preparedPools.keys(), ...failures.keys()]) {
        if (changed.pools.has(pool)) continue;
        preparedPools.delete(pool);
        failures.delete(pool);
        metrics.forget(pool);
      }
      begin();
    },
    settled,
    stop() {
      stopped = true;
      clearTimeout(retry);
    },
  };
}

/** Machines apply what they are sent, so it must be exactly what was rendered for their pool. */
const notRendered = (name: string, pool: string): ServerError =>
  new ServerError(
    'SLW_SERVER_PREPARE',
    `MachineConfig ${name} is not what was rendered for pool ${pool}: its name does not match the digest of its spec. The controllers restore it automatically; if this lasts, check that slipway controller is running, and the event RenderedConfigLost of the MachineConfig`,
  );

const computeDigest = ({ kubeconfig, caBundle }: JoiningNode): string =>
  createHash('sha256').update(`${kubeconfig}\0${caBundle}`).digest('hex');

/** The versions that current clients request: no header, Ignition 2.14, 2.15 to 2.19, 2.20 to 2.25, and later ones. */
const COMMON_VERSIONS: readonly SpecVersion[] = ['3.5.0', '3.3.0', '3.4.0', '3.6.0', '2.2.0'];

const pack = promisify(gzip);

/** Throws if no version can be prepared. If only one cannot express the config, its response explains why. */
export async function prepareAnswers(rendered: MachineConfig, node: JoiningNode): Promise<PoolAnswers> {
  const { name } = rendered.metadata;
  const config = await firstBootConfig(rendered, node);
  const problem = validate(config).find(({ kind }) => kind === 'error');
  if (problem !== undefined) {
    throw new ServerError(
      'SLW_SERVER_PREPARE',
      `MachineConfig ${name} cannot be combined with the files that a machine needs to join: ${problem.path}: ${problem.message}. Change the MachineConfig that sets it`,
    );
  }
  const answers = new Map<SpecVersion, Promise<PreparedAnswer>>();
  let held = 0;

  function prepare(from: AnyConfig, version: SpecVersion): Promise<PreparedAnswer> {
    const answer = prepareAnswer(from, version, name);
    answers.set(version, answer);
    return answer.then((made) => {
      if (made.ok) held += made.plain.length + made.gzip.length;
      return made;
    });
  }

  // One after another, so that requests are served in between.
  for (const version of COMMON_VERSIONS) await prepare(config, version);
  const base = await answers.get('3.5.0');

  return {
    rendered: name,
    answerIn: (version) => answers.get(version) ?? prepare(configIn(base), version),
    size: () => held,
  };
}

/** Parses the config from its bytes: it is rarely needed again, and need not be stored twice. */
function configIn(base: PreparedAnswer | undefined): AnyConfig {
  const parsed = base?.ok === true ? parse(base.plain) : undefined;
  if (parsed === undefined || parsed.config === null) throw new Error('the prepared config of 3.5.0 cannot be read');
  return parsed.config;
}

async function prepareAnswer(from: AnyConfig, version: SpecVersion, name: string): Promise<PreparedAnswer> {
  const { config, report } = translate(from, version);
  if (config === null) {
    const fields = report.filter(({ kind }) => kind === 'error').map(({ path, message }) => `${path}: ${message}`);
    return {
      ok: false,
      message: `MachineConfig ${name} cannot be expressed in spec ${version}: ${fields.slice(0, 3).join('; ')}. Boot an image with a newer Ignition, or remove the field from the pool’s MachineConfigs`,
    };
  }
  const plain = Buffer.from(JSON.stringify(config));
  return { ok: true, plain, gzip: await pack(plain) };
}
