// The parts of packages that a daemon uses, for packages that load completely for one of them.
import type { Plugin } from 'rolldown';

/** By name. An import of anything else fails the build of the bundle instead of the daemon on a machine. */
const PARTS: Readonly<Record<string, string>> = {
  // Without fetch, caches, mocks and web sockets.
  undici: `
    import Dispatcher from 'undici/lib/dispatcher/dispatcher.js';
    import api from 'undici/lib/api/index.js';
    export { default as Agent } from 'undici/lib/dispatcher/agent.js';
    export { default as ProxyAgent } from 'undici/lib/dispatcher/proxy-agent.js';
    Object.assign(Dispatcher.prototype, api);`,
  // Without Node's metrics, for which it loads OpenTelemetry.
  'prom-client': `
    export { default as Counter } from 'prom-client/lib/counter.js';
    export { default as Gauge } from 'prom-client/lib/gauge.js';
    export { default as Histogram } from 'prom-client/lib/histogram.js';
    export { default as Registry } from 'prom-client/lib/registry.js';`,
};

/** `own`: the sources whose imports are replaced; packages see each other unchanged. */
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
