// Files, directories and links; the rules of spec 2.x have a 2 in their names.
import { cleanPath, findPrefixes, isAbsolute, joinPaths } from '../posix-path.ts';
import { type Findings, show } from '../report.ts';
import type { ConfigOf } from '../spec/index.ts';
import { checkResource, checkResource2 } from './resource.ts';
import { type Directory, type File, type Link, type Owner, pathProblem, type Rules, type Storage } from './rules.ts';

const MODE_MAX = 0o7777;
const SPECIAL_BITS = 0o7000;
const PERMISSIONS = 0o777;

export function checkNodes(storage: Storage, rules: Rules, findings: Findings): void {
  const { directories = [], files = [], links = [] } = storage;
  directories.forEach((directory, index) => {
    const at = `storage.directories[${index}]`;
    checkNode(directory, at, findings);
    checkMode(directory.mode, at, rules, findings);
  });
  files.forEach((file, index) => checkFile(file, `storage.files[${index}]`, rules, findings));
  const directoryPaths = new Set(directories.map((directory) => directory.path));
  links.forEach((link, index) => {
    const at = `storage.links[${index}]`;
    checkNode(link, at, findings);
    checkTarget(link, at, directoryPaths, rules, findings);
  });
  if (links.length > 0) checkBelowLinks({ directories, files, links }, findings);
}

/** A node below a link of the config would end up wherever the link points. */
function checkBelowLinks(nodes: Required<Pick<Storage, 'directories' | 'files' | 'links'>>, findings: Findings): void {
  const prefixes = nodes.links.map((link) => `${link.path}/`);
  for (const list of ['directories', 'files', 'links'] as const) {
    const paths = nodes[list].map(({ path }) => path);
    findPrefixes(prefixes, paths).forEach((prefix, index) => {
      if (prefix === null) return;
      const message = `${show(paths[index])} is below ${show(prefix.slice(0, -1))}, which this config defines as a link: write the path that the link leads to`;
      findings.error(`storage.${list}[${index}]`, message);
    });
  }
}

function checkFile(file: File, at: string, rules: Rules, findings: Findings): void {
  checkNode(file, at, findings);
  checkMode(file.mode, at, rules, findings);
  checkResource(file.contents, `${at}.contents`, rules, findings);
  file.append?.forEach((resource, index) => checkResource(resource, `${at}.append[${index}]`, rules, findings));
  if (file.overwrite === true && file.contents?.source === undefined) {
    findings.error(
      `${at}.overwrite`,
      `overwrite of ${show(file.path)} needs contents.source; use "" for an empty file`,
    );
  }
}

function checkNode(node: Directory | File | Link, at: string, findings: Findings): void {
  const problem = pathProblem(node.path);
  if (problem !== null) findings.error(`${at}.path`, problem);
  checkOwner(node.user, `${at}.user`, findings);
  checkOwner(node.group, `${at}.group`, findings);
}

function checkOwner(owner: Owner | undefined, at: string, findings: Findings): void {
  if (owner?.id === undefined || owner.name === undefined || owner.name === '') return;
  findings.error(at, `both id ${owner.id} and name ${show(owner.name)} are set: keep one`);
}

function checkMode(mode: number | undefined, at: string, rules: Rules, findings: Findings): void {
  if (mode === undefined) return;
  if (mode < 0 || mode > MODE_MAX) {
    findings.error(`${at}.mode`, rangeProblem(mode));
  } else if (!rules.specialModeBits && (mode & SPECIAL_BITS) !== 0) {
    const meant = findOctalMode(mode);
    const bits = `the mode ${octal(mode)} has setuid, setgid or sticky bits, which take effect only in 3.6.0 and later`;
    findings.warn(
      `${at}.mode`,
      meant === null
        ? bits
        : `the mode ${mode} is decimal: for octal ${octal(meant)} write ${meant}, or ${octal(meant)} in YAML`,
    );
  }
}

/** The value of the digits as an octal number: 420 for 644. Null if they are not a usual octal mode. */
export function findOctalMode(mode: number): number | null {
  const digits = String(mode);
  if (!/^[0-7]{3,4}$/.test(digits)) return null;
  const meant = Number.parseInt(digits, 8);
  return meant <= PERMISSIONS ? meant : null;
}

function octal(mode: number): string {
  return `0${mode.toString(8)}`;
}

function checkTarget(link: Link, at: string, directories: ReadonlySet<string>, rules: Rules, findings: Findings): void {
  const { path, target = '' } = link;
  if (target === '' && !rules.emptyTarget) findings.error(`${at}.target`, `the link ${show(path)} needs a target`);
  if (target === '' || link.hard !== true) return;
  const place = isAbsolute(target) ? cleanPath(target) : joinPaths(path, target);
  if (directories.has(place)) {
    findings.error(
      at,
      `the hard link ${show(path)} points to ${show(place)}, which this config defines as a directory`,
    );
  }
  for (const name of ['user', 'group'] as const) {
    if (link[name] !== undefined)
      findings.warn(`${at}.${name}`, 'this is ignored: a hard link has the owner of its target');
  }
}

// Spec 2.x.

type Storage2 = NonNullable<ConfigOf<'2.4.0'>['storage']>;
type Node2 = NonNullable<Storage2['directories']>[number] | NonNullable<Storage2['links']>[number];

export function checkNodes2(storage: Storage2, rules: Rules, findings: Findings): void {
  const names = new Set(['root', ...(storage.filesystems ?? []).map((filesystem) => filesystem.name ?? '')]);
  storage.files?.forEach((file, index) => {
    const at = `storage.files[${index}]`;
    checkNode2(file, at, names, findings);
    checkMode2(file.mode, '0644', at, findings);
    checkResource2(file.contents, `${at}.contents`, rules, findings);
    if (file.overwrite === true && file.append === true) {
      findings.error(at, `${show(file.path)} has both overwrite and append set: keep one`);
    }
  });
  storage.directories?.forEach((directory, index) => {
    const at = `storage.directories[${index}]`;
    checkNode2(directory, at, names, findings);
    checkMode2(directory.mode, '0755', at, findings);
  });
  storage.links?.forEach((link, index) => checkNode2(link, `storage.links[${index}]`, names, findings));
}

function checkNode2(node: Node2, at: string, filesystems: ReadonlySet<string>, findings: Findings): void {
  if (node.filesystem === '')
    findings.error(`${at}.filesystem`, 'the filesystem is missing: use "root" for the root filesystem');
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

function checkMode2(mode: number | undefined, usual: string, at: string, findings: Findings): void {
  if (mode === undefined) findings.warn(`${at}.mode`, `the mode is not set, so it will be the default, ${usual}`);
  else if (mode < 0 || mode > MODE_MAX) findings.error(`${at}.mode`, rangeProblem(mode));
}

const rangeProblem = (mode: number): string => `the mode ${mode} (decimal) is not between 0 and 4095 (octal 7777)`;
