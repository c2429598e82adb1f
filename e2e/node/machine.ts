import { chmod, copyFile, mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { nodes } from '@slipway/api';
import { node as nodeWith } from '@slipway/testing/builders';
import { bundleDaemon, daemonFlags } from '@slipway/tools/bundle';
import { type CrioNodeOptions, makeCrioNode } from '@slipway/tools/crio';
import type { IgnitionClient } from '@slipway/tools/ignition-client';
import { makeNode, type SystemdNode } from '@slipway/tools/nspawn';
import { firstBoot } from '../first-boot/boot.ts';
import type { Fleet } from '../first-boot/fleet.ts';
import type { NodesUnderTest } from './nodes.ts';

export interface ProvisionOptions {
  name: string;
  fleet: Fleet;
  parts: NonNullable<NodesUnderTest['parts']>;
  ignition: IgnitionClient;
  /** With a real CRI-O as a service. */
  crio?: Pick<CrioNodeOptions, 'programs' | 'registries'>;
}

const PROGRAM = `#!/bin/sh
exec /opt/slipway/node ${daemonFlags.join(' ')} /opt/slipway/daemon.mjs "$@"
`;

/**
 * A machine of the pool worker before its first boot: its OS image has the slipway program, and the real Ignition has
 * written what our server gave it. A Node object and the kubelet's credentials are there, since no kubelet makes them.
 */
export async function provisionMachine({ name, fleet, parts, ignition, crio }: ProvisionOptions): Promise<SystemdNode> {
  const program = await bundleDaemon();
  const files = { '/opt/slipway/node': process.execPath, '/opt/slipway/daemon.mjs': program.path };
  const machine = { name, ...parts, files };
  const node = crio === undefined ? await makeNode(machine) : await makeCrioNode({ ...machine, ...crio });
  try {
    await writeFile(join(node.root, 'usr/local/bin/slipway'), PROGRAM, { mode: 0o755 });
    await joinCluster(node, fleet);
    const booted = await firstBoot({
      client: ignition,
      pointer: await fleet.stubOf('worker'),
      directory: join(fleet.directory, name),
      disk: { root: node.disk.root, enter: ['nsenter', '--mount', '--target', String(node.disk.holder)] },
    });
    if (!booted.ok) throw new Error(`Ignition failed on ${name} in ${booted.failedIn}: ${booted.critical.join('; ')}`);
    console.log(`${name}: Ignition wrote its disk in ${booted.ms.toFixed(0)} ms`);
    return node;
  } catch (error) {
    await node.stop();
    throw error;
  }
}

/** The network is that of this computer: the port that a daemon usually serves its probes on may be another's. */
export const probesConfig = (port: number) => ({
  ignition: { version: '3.5.0' },
  systemd: {
    units: [
      {
        name: 'machine-config-daemon.service',
        dropins: [
          {
            name: '10-probes.conf',
            contents: `[Service]
ExecStart=
ExecStart=/usr/local/bin/slipway daemon --node %H --kubeconfig /var/lib/kubelet/kubeconfig --probes 127.0.0.1:${port}
`,
          },
        ],
      },
    ],
  },
});

async function joinCluster({ name, root }: SystemdNode, { client, kubeconfigFor }: Fleet): Promise<void> {
  await client.create(nodes, nodeWith(name));
  const directory = join(root, 'var/lib/kubelet');
  await mkdir(directory, { recursive: true, mode: 0o700 });
  const kubeconfig = join(directory, 'kubeconfig');
  await copyFile(await kubeconfigFor({ user: `system:node:${name}`, groups: ['system:nodes'], name }), kubeconfig);
  await chmod(kubeconfig, 0o600);
}
