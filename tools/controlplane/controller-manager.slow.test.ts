import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { resolveBinaries, startControlPlane, type ControlPlane } from './index.ts';

describe('a control plane with kube-controller-manager', () => {
  let plane: ControlPlane;
  let program: string;
  beforeAll(async () => {
    program = (await resolveBinaries(['kubectl'])).kubectl;
    plane = await startControlPlane({ controllerManager: true });
  });
  afterAll(() => plane.stop());

  const kubectl = async (...args: string[]) =>
    (await promisify(execFile)(program, ['--kubeconfig', plane.kubeconfig, ...args])).stdout.trim();

  const configMap = (name: string, owner: object[]) =>
    JSON.stringify({
      apiVersion: 'v1',
      kind: 'ConfigMap',
      metadata: { name, namespace: 'default', ownerReferences: owner },
    });

  async function create(manifest: string): Promise<void> {
    const created = execFile(program, ['--kubeconfig', plane.kubeconfig, 'create', '-f', '-']);
    created.stdin?.end(manifest);
    const code = await new Promise((resolve) => created.on('exit', resolve));
    expect(code).toBe(0);
  }

  it('garbage-collects the dependents of a deleted object', async () => {
    await create(configMap('owner', []));
    const uid = await kubectl('get', 'configmap', 'owner', '-o', 'jsonpath={.metadata.uid}');
    await create(configMap('owned', [{ apiVersion: 'v1', kind: 'ConfigMap', name: 'owner', uid }]));
    await kubectl('delete', 'configmap', 'owner');
    await expect.poll(() => kubectl('get', 'configmaps', '-o', 'name'), { timeout: 90_000 }).not.toContain('owned');
  });

  it('creates a service account in each namespace, and deletes a namespace with its contents', async () => {
    await kubectl('create', 'namespace', 'short-lived');
    await expect
      .poll(() => kubectl('get', 'serviceaccounts', '-n', 'short-lived', '-o', 'name'), { timeout: 60_000 })
      .toBe('serviceaccount/default');
    await kubectl('delete', 'namespace', 'short-lived', '--wait=false');
    await expect
      .poll(() => kubectl('get', 'namespaces', '-o', 'name'), { timeout: 90_000 })
      .not.toContain('short-lived');
  });
});
