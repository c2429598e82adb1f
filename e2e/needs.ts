/** What takes minutes to build, or hundreds of megabytes, and only some tests ask for. */
export type Need =
  | 'ignition client'
  | 'nodes'
  | 'crio'
  | 'ironic'
  | 'oracle'
  | 'controller manager'
  | 'kubelet'
  | 'cluster api';

const SIGNS: Readonly<Record<Need, RegExp>> = {
  'ignition client': /inject\('ignitionClients'\)/,
  // CRI-O runs on the disk of a node.
  nodes: /inject\('(?:nodes|crio)'\)/,
  crio: /inject\('crio'\)/,
  ironic: /isIronicMissing\(/,
  oracle: /Oracle\.start\(/,
  'controller manager': /controllerManager: true/,
  kubelet: /resolveBinaries\(\['kubelet'\]\)/,
  'cluster api': /inject\('clusterApi'\)/,
};

/**
 * By the texts of the test files of a run: each asks for what it needs by name, and not through a harness. What is found here is
 * made before the first test's clock runs; what is not, no run waits for.
 */
export function findNeeds(texts: readonly string[]): Set<Need> {
  const needs = Object.keys(SIGNS) as Need[];
  return new Set(needs.filter((need) => texts.some((text) => SIGNS[need].test(text))));
}
