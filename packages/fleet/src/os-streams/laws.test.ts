// Laws for the OS of every pool, through any series of platform upgrades.
import { isSameStream, knownStreams, streamStep } from '@slipway/api';
import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { PoolStream, PoolStreamFacts, Streams, TrackedStream } from './available.ts';
import { streamOfPool, trackedAnnotations, trackedBy, readTrackedStream } from './pool-stream.ts';
import { sampleImages, samplePool, streamNamed } from './testing/sample.ts';

/** The names of a stream: another release may spell it otherwise. */
const spellings = [...knownStreams.map(({ name, aliases }) => [name].concat(aliases)), ['vendor-1']];

interface Release {
  /** As it spells them. */
  readonly names: readonly string[];
  readonly defaultStream: string;
}

const release: fc.Arbitrary<Release> = fc
  .uniqueArray(fc.constantFrom(...spellings), { minLength: 1, maxLength: spellings.length })
  .chain((streams) => fc.tuple(...streams.map((names) => fc.constantFrom(...names))))
  .chain((names) => fc.record({ names: fc.constant(names), defaultStream: fc.constantFrom(...names) }));

/** Every release has different images. */
const streamsIn = ({ names, defaultStream }: Release, build: number): Streams => ({
  available: names.map((name) => streamNamed(name, build)),
  defaultStream,
  lifecycle: new Map(),
});

const releases = fc.array(release, { minLength: 1, maxLength: 8 });
const anyName = fc.constantFrom(...spellings.flat());

/** What a pool that predates streams runs, with a known or an unknown stream; null: the pool is new. */
const before = fc.option(
  fc.option(anyName).map((stream) => ({ stream, images: sampleImages(stream ?? 'own', 0) })),
  { freq: 3 },
);

/** A pool in the cluster: its annotations, and what its machines ran before it had any. */
class Pool {
  readonly #runs: PoolStreamFacts['runs'];
  #annotations: Readonly<Record<string, string>> = {};

  constructor(runs: PoolStreamFacts['runs']) {
    this.#runs = runs;
  }

  get tracked(): TrackedStream | null {
    return readTrackedStream(this.#annotations);
  }

  /** What it is on, written down or not. */
  get on(): TrackedStream | null {
    return this.tracked ?? asTracked(this.#runs);
  }

  /** What the controller does: decide, and write it down. */
  reconcile(streams: Streams, more: Partial<PoolStreamFacts> = {}): PoolStream {
    const { tracked } = this;
    const runs = tracked === null ? this.#runs : null;
    const decision = streamOfPool(samplePool({ tracked, runs, ...more }), streams);
    this.#annotations = onlySet({ ...this.#annotations, ...trackedAnnotations(decision) });
    return decision;
  }
}

const asTracked = (runs: PoolStreamFacts['runs']): TrackedStream | null =>
  runs === null ? null : { name: runs.stream, images: runs.images };

const onlySet = (annotations: Readonly<Record<string, string | null>>): Record<string, string> =>
  Object.fromEntries(Object.entries(annotations).filter((entry): entry is [string, string] => entry[1] !== null));

/** Nothing is the same as nothing else: a pool that had an OS must have one. */
function isSameOS(a: TrackedStream | null, b: TrackedStream | null): boolean {
  if (a === null || b === null) return false;
  return a.name === b.name || (a.name !== null && b.name !== null && isSameStream(a.name, b.name));
}

function isWayBack(from: TrackedStream | null, to: TrackedStream | null): boolean {
  if (from === null || from.name === null) return false;
  return to === null || to.name === null || cannotGo(from.name, to.name);
}

const cannotGo = (from: string, to: string): boolean =>
  streamStep(from, to) === 'backward' || streamStep(from, to) === 'other family';

describe('through any series of platform upgrades', () => {
  it('no pool changes its stream whose owner does nothing', () => {
    const holds = (series: readonly Release[], runs: PoolStreamFacts['runs']): boolean => {
      const pool = new Pool(runs);
      return series.every((each, index) => {
        const was = pool.on;
        pool.reconcile(streamsIn(each, index + 1));
        return was === null ? pool.tracked !== null : isSameOS(was, pool.tracked);
      });
    };
    fc.assert(fc.property(releases, before, holds), { numRuns: 2000 });
  });

  it('a pool has the release’s images of its stream, or its previous ones if the release has none', () => {
    const holds = (series: readonly Release[], runs: PoolStreamFacts['runs']): boolean => {
      const pool = new Pool(runs);
      return series.every((each, index) => {
        const was = pool.on;
        const streams = streamsIn(each, index + 1);
        pool.reconcile(streams);
        const { name = null, images } = pool.tracked ?? {};
        const there = name === null ? undefined : streams.available.find((stream) => stream.name === name);
        return images?.osImage === (there ?? was?.images)?.osImage;
      });
    };
    fc.assert(fc.property(releases, before, holds), { numRuns: 2000 });
  });

  it('no custom pool changes its stream unless its spec or worker’s changes', () => {
    const holds = (series: readonly Release[], runs: PoolStreamFacts['runs'], bornAt: number): boolean => {
      const worker = new Pool(runs);
      // It ran what worker ran, or it is created later.
      let infra = runs === null ? null : new Pool(runs);
      return series.every((each, index) => {
        const streams = streamsIn(each, index + 1);
        worker.reconcile(streams);
        if (index === bornAt) infra ??= new Pool(null);
        if (infra === null) return true;
        const was = infra.on ?? worker.tracked;
        infra.reconcile(streams, { worker: worker.tracked });
        return isSameOS(was, infra.tracked) && isSameOS(worker.tracked, infra.tracked);
      });
    };
    fc.assert(fc.property(releases, before, fc.nat({ max: 7 }), holds), { numRuns: 2000 });
  });

  it('no pool moves backward or to another family, whatever its spec and worker’s request', () => {
    const step = fc.record({ release, forWorker: fc.option(anyName), forInfra: fc.option(anyName) });
    const holds = (
      series: readonly { release: Release; forWorker: string | null; forInfra: string | null }[],
      workerRuns: PoolStreamFacts['runs'],
      infraRuns: PoolStreamFacts['runs'],
    ): boolean => {
      const [worker, infra] = [new Pool(workerRuns), new Pool(infraRuns)];
      return series.every((each, index) => {
        const was = [worker.on, infra.on] as const;
        const streams = streamsIn(each.release, index + 1);
        worker.reconcile(streams, { asked: each.forWorker });
        infra.reconcile(streams, { asked: each.forInfra, worker: worker.tracked });
        return !isWayBack(was[0], worker.on) && !isWayBack(was[1], infra.on);
      });
    };
    fc.assert(fc.property(fc.array(step, { minLength: 1, maxLength: 8 }), before, before, holds), { numRuns: 2000 });
  });
});

const poolFacts: fc.Arbitrary<PoolStreamFacts> = fc
  .record({ tracked: before, runs: before, asked: fc.option(anyName), isCustom: fc.boolean(), worker: before })
  .map(({ tracked, runs, asked, isCustom, worker }) =>
    samplePool({
      tracked: asTracked(tracked),
      runs,
      asked,
      worker: isCustom ? asTracked(worker) : undefined,
    }),
  );

describe('a decision', () => {
  it('decides the same again on the annotations that it left', () => {
    fc.assert(
      fc.property(poolFacts, release, (facts, each) => {
        const streams = streamsIn(each, 1);
        const first = streamOfPool(facts, streams);
        const tracked = readTrackedStream(onlySet(trackedAnnotations(first))) ?? facts.tracked;
        const second = streamOfPool({ ...facts, tracked }, streams);
        expect([second.type, trackedBy(second)]).toEqual([first.type, trackedBy(first)]);
      }),
      { numRuns: 2000 },
    );
  });

  it('that refuses does not change a byte of the pool’s OS', () => {
    const holds = (facts: PoolStreamFacts, each: Release): boolean | void => {
      const decision = streamOfPool(facts, streamsIn(each, 1));
      if (decision.type !== 'refused') return fc.pre(false);
      return JSON.stringify(decision.at) === JSON.stringify(facts.tracked ?? asTracked(facts.runs));
    };
    fc.assert(fc.property(poolFacts, release, holds), { numRuns: 500 });
  });

  it('to move backward or to another family is always refused', () => {
    const pairs = fc.tuple(anyName, anyName).filter(([from, to]) => cannotGo(from, to));
    fc.assert(
      fc.property(pairs, ([from, to]) => {
        const at = { name: from, images: sampleImages(from, 1) };
        const streams = streamsIn({ names: [from, to], defaultStream: to }, 2);
        expect(streamOfPool(samplePool({ asked: to, tracked: at }), streams)).toMatchObject({ type: 'refused', at });
      }),
    );
  });
});
