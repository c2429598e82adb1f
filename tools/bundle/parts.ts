// The parts of packages that a daemon uses, where a package loads all of itself for one of them.
import type { Plugin } from 'rolldown';

/** By name. What one of our sources imports beside these is refused when the bundle is made, not missed on a machine. */
const PARTS: Readonly<Record<string, string>> = {
  // Without fetch, caches, mocks and web sockets.
  undici: `
    import Dispatcher from 'undici/lib/dispatcher/dispatcher.js';
    import api from 'undici/lib/api/index.js';
    export { default as Agent } from 'undici/lib/dispatcher/agent.js';
    export { default as ProxyAgent } from 'undici/lib/dispatcher/proxy-agent.js';
    Object.assign(Dispatcher.prototype, api);`,
  // Without the metrics of Node, for which it loads OpenTelemetry.
  'prom-client': `
    export { default as Counter } from 'prom-client/lib/counter.js';
    export { default as Gauge } from 'prom-client/lib/gauge.js';
    export { default as Histogram } from 'prom-client/lib/histogram.js';
    export { default as Registry } from 'prom-client/lib/registry.js';`,
};

/** `own`: where the sources are whose imports this is for; packages see each other whole. */
export function onlyParts(own: string): Plugin {
  return {
    name: 'only-parts',
    async resolveId(source, importer) {
      if (PARTS[source] === undefined || importer?.startsWith(own) !== true) return null;
      const found = await this.resolve(source, importer, { skipSelf: true });
      return found === null ? null : `${found.id}?parts=${source}`;
    },
    load(id) {
      const [, name] = id.split('?parts=');
      return name === undefined ? null : (PARTS[name] ?? null);
    },
  };
}
