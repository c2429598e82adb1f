// What every test of remote content has: a cluster, a web server, and controllers that can be stopped and started again.
import { type RequestHandler, type FakeServer, startFakeServer } from '@slipway/testing/fake-http-server';
import type { RunningControllers } from '@slipway/testing/run-controllers';
import { afterAll, afterEach, beforeAll, beforeEach } from 'vitest';
import { type Cluster, type Options, startCluster, untilClean } from './cluster.ts';

export interface Stage {
  readonly cluster: Cluster;
  /** A new one for each test; it has `/good`. */
  readonly web: FakeServer;
  run(options?: Options): RunningControllers;
  stopAll(): Promise<void>;
  /** Stops what runs, and starts one. */
  restart(): Promise<void>;
}

export function setStage(): Stage {
  const running: RunningControllers[] = [];
  let cluster: Cluster | undefined;
  let web: FakeServer | undefined;

  const stage: Stage = {
    get cluster() {
      if (cluster === undefined) throw new Error('there is no cluster before the first test');
      return cluster;
    },
    get web() {
      if (web === undefined) throw new Error('there is no web server outside of tests');
      return web;
    },
    run(options) {
      const started = stage.cluster.run(options);
      running.push(started);
      return started;
    },
    async stopAll() {
      for (const each of running.splice(0)) await each.stop();
    },
    async restart() {
      await stage.stopAll();
      stage.run();
    },
  };

  beforeAll(async () => {
    cluster = await startCluster();
  }, 120_000);
  afterAll(() => cluster?.stop());
  beforeEach(async () => {
    web = await startFakeServer();
    web.serve('/good', 'good');
  });
  afterEach(async () => {
    await stage.restart();
    await untilClean(stage.cluster);
    await stage.stopAll();
    await web?.stop();
  });
  return stage;
}

const VERSION = '3.4.0';

/** A file whose contents are at `source`. */
export const file = (path: string, source: string, more: object = {}): object => ({
  path,
  contents: { source, ...more },
});

export const withFiles = (...files: object[]) => ({ ignition: { version: VERSION }, storage: { files } });

/** A config that takes in others. */
export const merging = (...sources: string[]) => ({
  ignition: { version: VERSION, config: { merge: sources.map((source) => ({ source })) } },
});

const mebibyte = new Uint8Array(1024 * 1024);

/** A body that never ends; `sent` is called for every mebibyte of it. */
export const endless =
  (sent: () => void): RequestHandler =>
  (_, response) => {
    response.writeHead(200, { 'content-length': String(10_000_000_000) });
    const more = (): void => {
      while (!response.destroyed) {
        sent();
        if (!response.write(mebibyte)) return;
      }
    };
    response.on('drain', more);
    more();
  };

export const redirectTo =
  (location: string): RequestHandler =>
  (_, response) =>
    response.writeHead(302, { location }).end();
