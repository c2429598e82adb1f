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
  /** Simulated ones. */
  machines: readonly string[];
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
  machines,
  kubectl,
}: WelcomeFacts): string {
  const on = Object.entries(gates).flatMap(([name, gate]) => (gate.on ? [name] : []));
  return `
Slipway runs (started in ${seconds} s).

  API server     ${url} (Kubernetes ${kubernetes})
  first boots    ${serverUrl}
  machines       ${machinesText(machines)}
  kubeconfig     ${kubeconfig}
  data           ${dataDir}
  logs           ${join(dataDir, 'log')}
  feature gates  ${on.join(', ') || 'none'}

Try, in another terminal:

  export KUBECONFIG=${kubeconfig}
${(machines.length > 0 ? toRoll(kubectl) : toLook(kubectl)).map((line) => `  ${line}`).join('\n')}

Ctrl-C stops everything; nothing is lost.`;
}

function machinesText(machines: readonly string[]): string {
  if (machines.length === 0) return 'none (--nodes 8 for some)';
  return `${machines.length}, all simulated: directories in place of disks, the real daemon on each`;
}

const toRoll = (kubectl: string): string[] => [
  `${kubectl} get nodes`,
  `${kubectl} get machineconfigpools`,
  './slipway status --watch                                        # leave it open; in a third terminal:',
  `${kubectl} apply -f docs/examples/99-worker-registries.yaml   # rolls without a reboot`,
  `${kubectl} apply -f docs/examples/99-worker-motd.yaml         # rolls with drain and reboot`,
  './slipway why worker-0',
];

const toLook = (kubectl: string): string[] => [
  `${kubectl} get machineconfigpools`,
  `${kubectl} explain machineconfigpool.spec`,
  `${kubectl} apply -f docs/examples/99-worker-motd.yaml && ${kubectl} get machineconfigs`,
  `${kubectl} get machineconfigpool worker -o jsonpath='{.spec.configuration}'`,
  `${kubectl} -n openshift-machine-api get secrets`,
];
