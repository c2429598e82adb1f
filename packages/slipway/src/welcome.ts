import { join } from 'node:path';
import type { ResolvedGates } from '@slipway/fleet';

export interface WelcomeFacts {
  url: string;
  serverUrl: string;
  dataDir: string;
  kubeconfig: string;
  kubernetes: string;
  seconds: string;
  gates: ResolvedGates;
  /** As the user calls it. */
  kubectl: string;
}

/** What the user sees once everything runs: where things are, and what to try. */
export function welcome({
  url,
  serverUrl,
  dataDir,
  kubeconfig,
  kubernetes,
  seconds,
  gates,
  kubectl,
}: WelcomeFacts): string {
  const on = Object.entries(gates).flatMap(([name, gate]) => (gate.on ? [name] : []));
  return `
Slipway runs (started in ${seconds} s).

  API server     ${url} (Kubernetes ${kubernetes})
  first boots    ${serverUrl}
  kubeconfig     ${kubeconfig}
  data           ${dataDir}
  logs           ${join(dataDir, 'log')}
  feature gates  ${on.join(', ') || 'none'}

Try, in another terminal:

  export KUBECONFIG=${kubeconfig}
  ${kubectl} get machineconfigpools
  ${kubectl} explain machineconfigpool.spec
  ${kubectl} apply -f docs/examples/99-worker-motd.yaml && ${kubectl} get machineconfigs
  ${kubectl} get machineconfigpool worker -o jsonpath='{.spec.configuration}'
  ${kubectl} -n openshift-machine-api get secrets

Ctrl-C stops everything; nothing is lost.`;
}
