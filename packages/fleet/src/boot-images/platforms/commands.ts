// Commands for people, made of what specs and stream metadata say. Names come from outside: what a shell would take for more
// than a word is quoted.
import { fileOf } from './artifact.ts';
import type { Artifact, JsonObject, MachineResource } from '../verdict.ts';

/** One word of a command, whatever is in it. Characters that would steer a terminal are in no name of any platform. */
export const word = (text: string): string => {
  const visible = text.replaceAll(/\p{C}/gu, '?');
  return /^[\w./:@%+=,-]+$/.test(visible) ? visible : `'${visible.replaceAll("'", String.raw`'\''`)}'`;
};

/** Gets an artifact, unpacked, and makes sure that it is the right one. `file`: what is there in the end. */
export function download(artifact: Artifact): { readonly file: string; readonly commands: readonly string[] } {
  const packed = fileOf(artifact);
  const get = [`curl --fail --location --remote-name ${word(artifact.location)}`, check(artifact.sha256, packed)];
  if (!packed.endsWith('.gz')) return { file: packed, commands: get };
  const file = packed.slice(0, -'.gz'.length);
  const unpack = [`gunzip ${word(packed)}`];
  if (artifact.uncompressedSha256 !== null) unpack.push(check(artifact.uncompressedSha256, file));
  return { file, commands: [...get, ...unpack] };
}

const check = (sha256: string, file: string): string => `echo ${word(`${sha256}  ${file}`)} | sha256sum --check`;

/** Lets a MachineSet use what was imported. `value`: what changes of the providerSpec. */
export const useImage = ({ namespace, name }: MachineResource, value: JsonObject): string => {
  const patch = { spec: { template: { spec: { providerSpec: { value } } } } };
  return `kubectl --namespace ${word(namespace)} patch machinesets.machine.openshift.io ${word(name)} --type merge --patch ${word(JSON.stringify(patch))}`;
};
