// Files, directories and links in spec 2.x.
import { isAbsolute } from '../posix-path.ts';
import { type Findings, show } from '../report.ts';
import type { ConfigOf } from '../spec/index.ts';
import { checkResource2 } from './resource2.ts';
import type { Rules } from './rules.ts';

type Storage = NonNullable<ConfigOf<'2.4.0'>['storage']>;
type Node = NonNullable<Storage['directories']>[number] | NonNullable<Storage['links']>[number];

export function checkNodes2(storage: Storage, rules: Rules, findings: Findings): void {
  const names = new Set(['root', ...(storage.filesystems ?? []).map((filesystem) => filesystem.name ?? '')]);
  storage.files?.forEach((file, index) => {
    const at = `storage.files[${index}]`;
    checkNode(file, at, names, findings);
    checkMode(file.mode, at, findings);
    checkResource2(file.contents, `${at}.contents`, rules, findings);
    if (file.overwrite === true && file.append === true) {
      findings.error(at, `${show(file.path)} is both to be overwritten and to be appended to: keep one`);
    }
  });
  storage.directories?.forEach((directory, index) => {
    const at = `storage.directories[${index}]`;
    checkNode(directory, at, names, findings);
    checkMode(directory.mode, at, findings);
  });
  storage.links?.forEach((link, index) => checkNode(link, `storage.links[${index}]`, names, findings));
}

function checkNode(node: Node, at: string, filesystems: ReadonlySet<string>, findings: Findings): void {
  if (node.filesystem === '')
    findings.error(`${at}.filesystem`, 'the filesystem is missing: "root" is the one of the system');
  else if (!filesystems.has(node.filesystem)) {
    findings.warn(`${at}.filesystem`, `the filesystem ${show(node.filesystem)} is not in this config`);
  }
  if (!isAbsolute(node.path))
    findings.error(`${at}.path`, `the path ${show(node.path)} is relative: start it with "/"`);
  for (const name of ['user', 'group'] as const) {
    const owner = node[name];
    if (owner?.id !== undefined && Boolean(owner.name)) {
      findings.error(`${at}.${name}`, `both id ${owner.id} and name ${show(owner.name)} are set: keep one`);
    }
  }
}

function checkMode(mode: number | undefined, at: string, findings: Findings): void {
  if (mode === undefined) findings.warn(`${at}.mode`, 'the mode is not set, and will be the default');
  else if (mode < 0 || mode > 0o7777) {
    findings.error(`${at}.mode`, `the mode ${mode} (decimal) is not between 0 and 4095, octal 7777`);
  }
}
