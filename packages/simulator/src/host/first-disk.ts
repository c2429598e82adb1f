// Does what Ignition does to a disk, for a simulated machine: applies a whole plan through the machine's file system.
// Partitions, additional users and groups are left out, because nothing here could verify them.
import { posix } from 'node:path';
import { CORE, healPath, healSshKeys } from '@slipway/daemon';
import { type Host, makeDirectories, ownOwners, replaceFile } from '@slipway/daemon/host';
import { type DiskEntry, type DiskFile, type DiskPlan, type DiskUser, PRESET_PATH } from '@slipway/fleet';

const MAX_EXISTING_BYTES = 64 * 1024 * 1024;

/** Expects a machine that makeSimulatedMachine has just created, before its first boot continues. */
export async function writeFirstDisk(host: Host, plan: DiskPlan): Promise<void> {
  for (const path of plan.unmasked) await unmask(host, path);
  // A hard link needs its target first.
  const inOrder = plan.entries.toSorted((a, b) => Number(a.kind === 'hard link') - Number(b.kind === 'hard link'));
  for (const entry of inOrder) await writeEntry(host, entry);
  const core = plan.users.find(({ name }) => name === CORE);
  if (core !== undefined) await writeCore(host, core);
  await writePresets(host, plan);
}

async function unmask({ files }: Host, path: string): Promise<void> {
  const found = await files.lookAt(path);
  if (found?.kind === 'link' && found.target === '/dev/null') await files.remove(path);
}

async function writeEntry(host: Host, entry: DiskEntry): Promise<void> {
  const found = await host.files.lookAt(entry.path);
  const keeps = 'keepsExisting' in entry && entry.keepsExisting;
  if (!keeps || found === null) return healPath(host, entry);
  if (entry.kind === 'file' && entry.bytes.length > 0) await append(host, entry);
}

async function append(host: Host, entry: DiskFile): Promise<void> {
  const before = await host.files.read(entry.path, MAX_EXISTING_BYTES);
  await healPath(host, { ...entry, bytes: Buffer.concat([before, entry.bytes]) });
}

async function writeCore(host: Host, { passwordHash, sshKeys }: DiskUser): Promise<void> {
  if (passwordHash !== undefined) await host.accounts.setPasswordHash(CORE, passwordHash);
  if (sshKeys !== undefined) await healSshKeys(host, sshKeys);
}

/** Also applies them, as systemd does at a first boot. */
async function writePresets({ files, systemd }: Host, { presets }: DiskPlan): Promise<void> {
  if (presets.length === 0) return;
  const owners = ownOwners();
  await makeDirectories(files, posix.dirname(PRESET_PATH), owners);
  const bytes = Buffer.from(presets.map(({ line }) => `${line}\n`).join(''));
  await replaceFile(files, PRESET_PATH, { ...owners, bytes, mode: 0o644 });
  await systemd.preset(presets.map(({ unit }) => unit));
}
