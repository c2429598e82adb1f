// What every test of remote content has: a cluster, a web server, and controllers that can be stopped and started again.
import { afterAll, afterEach, beforeAll, beforeEach } from 'vitest';
import { type Cluster, type Options, type Running, startCluster, untilClean } from './cluster.ts';
import { startWebServer, type WebServer } from './web-server.ts';

export interface Stage {
  readonly cluster: Cluster;
  /** A new one for each test; it has `/good`. */
  readonly web: WebServer;
  run(options?: Options): Running;
  stopAll(): Promise<void>;
  /** Stops what runs, and starts one. */
  restart(): Promise<void>;
}

export function setStage(): Stage {
  const running: Running[] = [];
  let cluster: Cluster | undefined;
  let web: WebServer | undefined;

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
    web = await startWebServer();
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

const version = '3.4.0';

/** A file whose contents are at `source`. */
export const file = (path: string, source: string, more: object = {}): object => ({
  path,
  contents: { source, ...more },
});

export const withFiles = (...files: object[]) => ({ ignition: { version }, storage: { files } });

/** A config that takes in others. */
export const merging = (...sources: string[]) => ({
  ignition: { version, config: { merge: sources.map((source) => ({ source })) } },
});
