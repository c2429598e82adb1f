import { symlink, mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { makeNode, type NodeOptions, type SystemdNode } from '../nspawn/node.ts';
import type { CrioPrograms } from './build.ts';
import { PROGRAMS, type CrioConfiguration } from './configuration.ts';
import { prepareMachine } from './machine.ts';

export interface CrioNodeOptions extends NodeOptions, CrioConfiguration {
  programs: CrioPrograms;
}

/** A node on which systemd starts crio.service at boot. It has not booted yet. Call stop() at the end. */
export async function makeCrioNode({
  programs,
  registries,
  registriesConf,
  ...rest
}: CrioNodeOptions): Promise<SystemdNode> {
  const { crio, pinns, crictl } = programs;
  const files = Object.fromEntries(
    Object.entries({ crio, pinns, crictl }).map(([name, path]) => [join(PROGRAMS, name), path]),
  );
  const node = await makeNode({ containers: {}, ...rest, files: { ...files, ...rest.files }, runsContainers: true });
  try {
    await prepareMachine(node.root, {
      ...(registries === undefined ? {} : { registries }),
      ...(registriesConf === undefined ? {} : { registriesConf }),
    });
    const wants = join(node.root, '/etc/systemd/system/multi-user.target.wants');
    await mkdir(wants, { recursive: true });
    await symlink('/etc/systemd/system/crio.service', join(wants, 'crio.service'));
    return node;
  } catch (error) {
    await node.stop();
    throw error;
  }
}
