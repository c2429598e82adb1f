// The connections of many daemons, in one process of the benchmark: each with the transport and the watches that a
// daemon has, and nothing behind them.
import { once } from 'node:events';
import type { IncomingMessage } from 'node:http';
import { Agent, get } from 'node:https';
import { syncBuiltinESMExports } from 'node:module';
import tls from 'node:tls';
import { machineConfigNodes, machineConfigurations, nodes } from '@slipway/api';
import { daemonSources, pinningSources } from '@slipway/daemon';
import {
  createInformer,
  createReconnectSpread,
  createTransport,
  type Informer,
  isKubeError,
  KubeError,
  type KubeObject,
  loadKubeconfig,
  type Source,
  type Transport,
} from '@slipway/kube';

export type Side = 'ours' | 'theirs';

export interface FleetStart {
  readonly side: Side;
  readonly kubeconfig: string;
  readonly nodeNames: readonly string[];
  readonly spreadMs: number;
}

export interface FleetProgress {
  readonly daemons: number;
  /** Those with all their watches open. */
  readonly open: number;
  readonly watchesPerDaemon: number;
  /** That are open now. */
  readonly connections: number;
  /** When each TLS handshake ended, in milliseconds since the epoch; since the last report. */
  readonly handshakes: readonly number[];
  /** Responses 429 since the last report. */
  readonly throttled: number;
}

export interface DaemonClients {
  /** What happened since the last call. */
  progress(this: void): FleetProgress;
  stop(this: void): Promise<void>;
}

export async function startDaemonClients({
  side,
  kubeconfig,
  nodeNames,
  spreadMs,
}: FleetStart): Promise<DaemonClients> {
  const handshakes = countHandshakes();
  const stop = new AbortController();
  let throttled = 0;
  const onProblem = (error: unknown): void => {
    if (isKubeError(error, 'SLW_KUBE_THROTTLED')) throttled += 1;
  };
  const transports: Transport[] = [];
  const daemons = await Promise.all(
    nodeNames.map(async (node) => {
      const transport = await (side === 'ours' ? openTransport(kubeconfig) : openHttp1(kubeconfig));
      transports.push(transport);
      const spread = createReconnectSpread(side === 'ours' ? spreadMs : 0);
      return watchesOf(side, node).map((source): Informer<KubeObject> => {
        const informer = createInformer(transport, { ...source, onProblem, spreadMs: spread });
        informer.start(stop.signal);
        return informer;
      });
    }),
  );
  return {
    progress() {
      const report = {
        daemons: daemons.length,
        open: daemons.filter((all) => all.every(({ downSince }) => downSince === undefined)).length,
        watchesPerDaemon: daemons[0]?.length ?? 0,
        connections: handshakes.open.size,
        handshakes: handshakes.times.splice(0),
        throttled,
      };
      throttled = 0;
      return report;
    },
    async stop() {
      stop.abort();
      await Promise.all(transports.map((transport) => transport.close()));
      handshakes.stop();
    },
  };
}

/** Ours are those that a daemon declares; both of its controllers share them. Theirs are what it had before. */
function watchesOf(side: Side, node: string): Source[] {
  if (side === 'ours') {
    const declared = [...daemonSources({ node }).reads, ...pinningSources({ node }).reads];
    return [...new Map(declared.map((source) => [source.resource.plural, source])).values()];
  }
  const mine = { fieldSelector: `metadata.name=${node}` };
  return [
    { resource: nodes, as: 'metadata', ...mine },
    { resource: nodes, ...mine },
    { resource: machineConfigNodes, as: 'metadata', ...mine },
    { resource: machineConfigurations, fieldSelector: 'metadata.name=cluster' },
  ];
}

const openTransport = async (kubeconfig: string): Promise<Transport> =>
  createTransport(await loadKubeconfig([kubeconfig]), { multiplex: true });

/** A connection for each watch, as Slipway had it before. */
async function openHttp1(kubeconfig: string): Promise<Transport> {
  const access = await loadKubeconfig([kubeconfig]);
  const { certificate } = await access.credentials.current();
  const ca = await access.ca();
  const agent = new Agent({ keepAlive: true, ...(ca !== undefined && { ca }), ...certificate });
  return {
    server: access.server,
    json: () => Promise.reject(new Error('this client only watches')),
    async open({ path, query, accept = 'application/json', signal }) {
      const url = `${access.server}${path}?${new URLSearchParams(query).toString()}`;
      const request = get(url, { agent, headers: { accept }, ...(signal && { signal }) });
      const [response] = (await once(request, 'response')) as [IncomingMessage];
      response.on('error', () => {});
      if (response.statusCode === 200) return response;
      response.destroy();
      const code = response.statusCode === 429 ? 'SLW_KUBE_THROTTLED' : 'SLW_KUBE_SERVER';
      throw new KubeError(code, `HTTP ${response.statusCode}`);
    },
    close: async () => agent.destroy(),
  };
}

/** Every TLS connection of this process, whoever opens it. */
function countHandshakes(): { readonly times: number[]; readonly open: ReadonlySet<tls.TLSSocket>; stop(): void } {
  const times: number[] = [];
  const open = new Set<tls.TLSSocket>();
  const { connect } = tls;
  const counting = (options: tls.ConnectionOptions): tls.TLSSocket => {
    const socket = connect(options);
    socket.once('close', () => open.delete(socket));
    return socket.once('secureConnect', () => {
      times.push(Date.now());
      open.add(socket);
    });
  };
  const put = (next: typeof connect | typeof counting): void => {
    Object.assign(tls, { connect: next });
    // For modules that import it by name.
    syncBuiltinESMExports();
  };
  put(counting);
  return { times, open, stop: () => put(connect) };
}
