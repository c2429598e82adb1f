import type { AddressInfo } from 'node:net';
import { register } from 'prom-client';
import { describe, expect, it } from 'vitest';
import { createMetrics } from './metrics.ts';
import { serveProbes } from './probes.ts';
import type { Health } from './probes.ts';

describe('metrics', () => {
  it('the depth of a queue is read at each scrape, and removed with the queue', async () => {
    const metrics = createMetrics();
    let depth = 3;
    const forget = metrics.observeQueue('render', () => depth);
    expect(await metrics.registry.metrics()).toContain('slipway_queue_depth{controller="render"} 3');
    depth = 5;
    expect(await metrics.registry.metrics()).toContain('slipway_queue_depth{controller="render"} 5');
    forget();
    expect(await metrics.registry.metrics()).not.toContain('slipway_queue_depth{');
  });

  it('a watch counts as open while every watch of its kind is, and goes with them', async () => {
    const metrics = createMetrics();
    let isOpen = false;
    const forget = [metrics.observeWatch('v1/nodes', () => true), metrics.observeWatch('v1/nodes', () => isOpen)];
    expect(await metrics.registry.metrics()).toContain('slipway_watch_open{resource="v1/nodes"} 0');
    isOpen = true;
    expect(await metrics.registry.metrics()).toContain('slipway_watch_open{resource="v1/nodes"} 1');
    for (const each of forget) each();
    expect(await metrics.registry.metrics()).not.toContain('slipway_watch_open{');
  });

  it('a controller is in one state at a time, under the name that dashboards know', async () => {
    const metrics = createMetrics();
    metrics.setControllerState('render', 'standby');
    metrics.setControllerState('render', 'running');
    const text = await metrics.registry.metrics();
    expect(text).toContain('mcc_sub_controller_state{subcontroller="render",state="running",object=""} 1');
    expect(text).toContain('mcc_sub_controller_state{subcontroller="render",state="standby",object=""} 0');
  });

  it('two registries in a process are independent of each other and of the global one', async () => {
    const [one, other] = [createMetrics(), createMetrics()];
    one.setLeader('ns/lease', true);
    expect(await one.registry.metrics()).toContain('slipway_leader{lease="ns/lease"} 1');
    expect(await other.registry.metrics()).not.toContain('slipway_leader{');
    expect(register.getMetricsAsArray()).toEqual([]);
  });
});

describe('probes', () => {
  it('report liveness and readiness with reasons, and serve the metrics', async () => {
    const metrics = createMetrics();
    let ready: Health = { ok: false, problems: ['controller a has not synced all its sources'] };
    const server = await serveProbes({
      metrics,
      ready: () => ready,
      live: () => ({ ok: true, problems: [] }),
      port: 0,
    });
    const { port } = server.address() as AddressInfo;
    const fetchPath = async (path: string, method = 'GET'): Promise<[number, string]> => {
      const answer = await fetch(`http://127.0.0.1:${port}${path}`, { method });
      return [answer.status, await answer.text()];
    };
    try {
      expect(await fetchPath('/healthz')).toEqual([200, 'ok\n']);
      expect(await fetchPath('/readyz')).toEqual([503, 'controller a has not synced all its sources\n']);
      ready = { ok: true, problems: [] };
      expect(await fetchPath('/readyz?verbose')).toEqual([200, 'ok\n']);
      expect(await fetchPath('/metrics')).toEqual([200, expect.stringContaining('# TYPE slipway_queue_depth gauge')]);
      expect((await fetchPath('/other'))[0]).toBe(404);
      expect((await fetchPath('/healthz', 'POST'))[0]).toBe(405);
    } finally {
      server.closeAllConnections();
      server.close();
    }
  });
});
