// Recognises what is not a manifest for Slipway: the input of another tool, a file that is not text, an object that
// nothing in Slipway acts on. An error if it could not be applied, a warning if the API server would accept it.
import { isUtf8 } from 'node:buffer';
import { basename, dirname } from 'node:path';
import { type Kind, kinds, MACHINE_CONFIGURATION_GROUP, METAL3_GROUP } from '@slipway/api';
import { isRecord } from '@slipway/base/json';
import { nearNames } from '@slipway/base/near-names';
import type { Finding } from '@slipway/fleet/check';
import type { YamlProblem } from './yaml.ts';

/** Where an object was found. */
export interface ForeignSource {
  /** A path, or `stdin`. */
  readonly file: string;
  /** The user named the file; false: it is one of a directory. */
  readonly isNamed: boolean;
}

// Files that are not text.

const isPrefix = (bytes: Uint8Array, ...prefix: readonly number[]): boolean =>
  prefix.every((byte, index) => bytes[index] === byte);

/** Why these bytes are not the text of a manifest, and what to do; null if they may be. */
export function whyBytesRefused(file: string, bytes: Uint8Array): string | null {
  if (isPrefix(bytes, 0x1f, 0x8b)) {
    return `it is compressed with gzip. Unpack it: ${reading('gunzip -c', file)} | slipway validate -f -`;
  }
  const isUtf16 = isPrefix(bytes, 0xff, 0xfe) || isPrefix(bytes, 0xfe, 0xff);
  if (isUtf16 || (bytes.length > 3 && (bytes[0] === 0) !== (bytes[1] === 0) && (bytes[2] === 0) !== (bytes[3] === 0))) {
    return `it is UTF-16, and a manifest is UTF-8. Convert it: ${reading('iconv -f UTF-16 -t UTF-8', file)} | slipway validate -f -`;
  }
  if (bytes.includes(0)) return 'it is not text. A manifest is YAML or JSON';
  return isUtf8(bytes)
    ? null
    : `it has characters that are not UTF-8. Convert it, for example: ${reading('iconv -f ISO-8859-1 -t UTF-8', file)} | slipway validate -f -`;
}

/** `gunzip -c 'a b.yaml'`; without a name for stdin. */
const reading = (command: string, file: string): string =>
  file === 'stdin' ? command : `${command} ${quoteForShell(file)}`;

const quoteForShell = (text: string): string =>
  /^[\w./@%+=:,-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`;

// Text that is neither YAML nor JSON.

/** Control structures of Go's and Jinja's templates, which have lines of their own. */
const TEMPLATE_LINE =
  /^\s*(?:- )?(?:\{\{-?\s*(?:if|else|end|range|with|include|template|define|block|toYaml|tpl|\$|\/\*)|\{%)/;

/** A template is recognised where the parser stopped, and by its control structures: units may contain {{ }} too. */
export function findTemplate(file: string, text: string, line: number | null): YamlProblem | null {
  if (!text.includes('{{') && !text.includes('{%')) return null;
  const lines = text.split('\n');
  const near = line === null ? [] : [line - 1, line - 2, line];
  const index = [
    ...near.filter((each) => /\{\{.*\}\}|\{%/.test(lines[each] ?? '')),
    lines.findIndex((each) => TEMPLATE_LINE.test(each)),
  ].find((each) => each >= 0);
  return index === undefined ? null : { line: index + 1, message: templateMessage(file) };
}

function templateMessage(file: string): string {
  const folder = dirname(file);
  const chart = basename(folder) === 'templates' ? quoteForShell(dirname(folder)) : 'CHART';
  return `it is a template ({{ … }}), not a manifest. Render it first, for Helm: helm template ${chart} | slipway validate -f -`;
}

/** Lines that other programs leave in a manifest. */
const STRAY_LINES: readonly (readonly [RegExp, string])[] = [
  [/^(?:<{7}|>{7})(?: |$)/, 'it has a merge conflict that is not resolved (<<<<<<<, =======, >>>>>>>); resolve it'],
  [/^\s*```/, 'it has a line with ``` from Markdown; remove it'],
  [/^-{4,}\s*$/, 'three dashes separate two documents: write ---'],
  [/^(?:EOF$|\S.*<<-? ?['"]?EOF)/, 'it has a line of a shell script; remove it'],
];

/** A line that explains why the text cannot be read; null if there is none. */
export function findStrayLine(text: string): YamlProblem | null {
  for (const [index, line] of text.split('\n').entries()) {
    const stray = STRAY_LINES.find(([pattern]) => pattern.test(line));
    if (stray !== undefined) return { line: index + 1, message: stray[1] };
  }
  return null;
}

/** Where JSON has its first comment; null if it has none. */
export function findJsonComment(text: string): YamlProblem | null {
  const withoutStrings = text.replaceAll(/"(?:[^"\\\n]|\\.)*"/g, '""');
  const index = withoutStrings.split('\n').findIndex((line) => /(?:^|[\s,{[\]}])(?:\/\/|\/\*)/.test(line));
  if (index < 0) return null;
  return { line: index + 1, message: 'JSON has no comments. Remove them, or write YAML, where # starts a comment' };
}

// Objects.

const found = (severity: Finding['severity'], object: string, field: string, text: string): Finding => {
  const subject = `${object}${field === '' || object === '' ? field : `, ${field}`}`;
  const message = subject === '' ? text : `${subject}: ${text}`;
  return { severity, code: 'SLW_CLI_FOREIGN', object, field, message };
};

/** Null: an object of Slipway, or of another API that Slipway does not check. */
export function findForeign(value: unknown, source: ForeignSource): Finding | null {
  if (!isRecord(value)) {
    const what = Array.isArray(value) ? 'a list' : 'a single value';
    return found('error', '', '', `expected an object with apiVersion, kind and metadata, found ${what}`);
  }
  if (isTemplated(value)) return found('error', '', '', templateMessage(source.file));
  const { kind } = value;
  if (kind === undefined) return findWithoutKind(value, source);
  if (typeof kind !== 'string' || kind === '') {
    return found('error', '', 'kind', 'expected the name of a kind, such as MachineConfig');
  }
  return findByKind(kind, nameIn(value), value['apiVersion'], source);
}

function nameIn(value: Readonly<Record<string, unknown>>): string {
  const metadata = isRecord(value['metadata']) ? value['metadata'] : {};
  return typeof metadata['name'] === 'string' ? ` ${metadata['name'].slice(0, 253)}` : '';
}

/** `name: {{ .Values.name }}` is a map whose key is a map; in quotes it is an impossible name. */
function isTemplated(value: Readonly<Record<string, unknown>>): boolean {
  const { apiVersion, kind, metadata } = value;
  // Not annotations: tools store whole objects in them.
  const { name, namespace, labels } = isRecord(metadata) ? metadata : {};
  return JSON.stringify([apiVersion, kind, name, namespace, labels]).includes('{{') || hasMapAsKey(value, 0);
}

const MAX_DEPTH = 32;

function hasMapAsKey(value: unknown, depth: number): boolean {
  if (typeof value !== 'object' || value === null || depth > MAX_DEPTH) return false;
  if (Array.isArray(value)) return value.some((each: unknown) => hasMapAsKey(each, depth + 1));
  return Object.entries(value).some(([key, each]) => /^\{ .* \}$/s.test(key) || hasMapAsKey(each, depth + 1));
}

/** Top-level fields that Butane and no Kubernetes object has. */
const BUTANE_FIELDS = ['variant', 'storage', 'systemd', 'passwd', 'kernel_arguments', 'boot_device', 'openshift'];

function findWithoutKind(value: Readonly<Record<string, unknown>>, source: ForeignSource): Finding | null {
  const { file } = source;
  const { ignition, variant } = value;
  if (isRecord(ignition) && variant === undefined) {
    const command = `slipway ignition validate ${file === 'stdin' ? '-' : quoteForShell(file)}`;
    return found(
      'error',
      '',
      '',
      `it is an Ignition config, not an object. Check it with: ${command}; to apply it, put it into spec.config of a MachineConfig`,
    );
  }
  if (BUTANE_FIELDS.some((field) => Object.hasOwn(value, field))) {
    return found('error', '', '', butaneMessage(variant, file));
  }
  const tool = findToolFile(value, source);
  if (tool !== null) return tool;
  const near = Object.keys(value).find((key) => /^kinds?$/i.test(key));
  const hint = near === undefined ? '' : `; it has ${near}, and the field is kind`;
  return found(
    'error',
    '',
    '',
    `it has no kind, so it is not a Kubernetes object${hint}. Add apiVersion and kind, or leave it out`,
  );
}

function butaneMessage(variant: unknown, file: string): string {
  const command = reading('butane --strict', file);
  return variant === undefined || variant === 'openshift'
    ? `it is a Butane config, which no API server accepts. Translate it first: ${command} | slipway validate -f -`
    : `it is a Butane config, which no API server accepts. Translate it first: ${command} | slipway ignition validate -. With variant openshift, Butane writes a MachineConfig`;
}

/** Files that tools keep next to manifests: in a directory they are only left out. */
function findToolFile(value: Readonly<Record<string, unknown>>, source: ForeignSource): Finding | null {
  const name = basename(source.file);
  if (/^kustomization(\.ya?ml)?$/i.test(name)) return kustomization(source);
  if (/^chart\.ya?ml$/i.test(name) && typeof value['version'] === 'string') {
    const command = `helm template ${quoteForShell(dirname(source.file))} | slipway validate -f -`;
    return found(
      leftOut(source),
      '',
      '',
      `it describes a Helm chart, and is left out. Check the manifests of the chart: ${command}`,
    );
  }
  return null;
}

const leftOut = ({ isNamed }: ForeignSource): Finding['severity'] => (isNamed ? 'error' : 'warning');

function kustomization(source: ForeignSource): Finding {
  const folder = source.file === 'stdin' ? 'DIR' : quoteForShell(dirname(source.file));
  const command = `kubectl kustomize ${folder} | slipway validate -f -`;
  return found(
    leftOut(source),
    '',
    '',
    `it is a kustomization, and is left out. Check the manifests that it builds: ${command}`,
  );
}

/** Kinds that the Machine Config Operator acts on and Slipway does not, with what to write instead. */
const KINDS_WITHOUT_EFFECT: Readonly<Record<string, string>> = {
  KubeletConfig: 'write its settings into the kubelet’s configuration file with a MachineConfig',
  ContainerRuntimeConfig:
    'write its settings into /etc/crio/crio.conf.d and /etc/containers/storage.conf with a MachineConfig',
  MachineOSConfig: 'build the image yourself, and set it as spec.osImageURL of a MachineConfig',
  MachineOSBuild: 'build the image yourself, and set it as spec.osImageURL of a MachineConfig',
  ControllerConfig: 'leave it out, because the Machine Config Operator writes it',
  InternalReleaseImage: 'serve release images from a registry of your own',
  ImageDigestMirrorSet: 'write the mirrors into /etc/containers/registries.conf.d with a MachineConfig',
  ImageTagMirrorSet: 'write the mirrors into /etc/containers/registries.conf.d with a MachineConfig',
  ImageContentPolicy: 'write the mirrors into /etc/containers/registries.conf.d with a MachineConfig',
  ImageContentSourcePolicy: 'write the mirrors into /etc/containers/registries.conf.d with a MachineConfig',
};

const isOpenShift = (apiVersion: string): boolean => /^[a-z.]+\.openshift\.io\//.test(apiVersion);

/** Other APIs have kinds such as MachineSet and Infrastructure too. */
const isDistinctive = ({ install, group }: Kind): boolean => install === 'own' || group === METAL3_GROUP;

function findByKind(kind: string, name: string, apiVersion: unknown, source: ForeignSource): Finding | null {
  const object = `${kind}${name}`;
  const own = kinds.find((each) => each.kind === kind && isDistinctive(each));
  const expected = own === undefined ? 'a group and version' : `${own.group}/${own.versions[0].name}`;
  if (typeof apiVersion !== 'string' || apiVersion === '') {
    return found(
      'error',
      object,
      'apiVersion',
      `expected ${expected}, found ${apiVersion === undefined ? 'none' : 'no text'}`,
    );
  }
  if (apiVersion.startsWith('kustomize.config.k8s.io/')) return kustomization(source);
  const remedy =
    Object.hasOwn(KINDS_WITHOUT_EFFECT, kind) && isOpenShift(apiVersion) ? KINDS_WITHOUT_EFFECT[kind] : undefined;
  if (remedy !== undefined) {
    return found('warning', object, '', `nothing in Slipway acts on this kind; ${remedy}`);
  }
  // A wrong version of the right group is a finding of the check of the object.
  if (own !== undefined && !apiVersion.startsWith(`${own.group}/`)) {
    return found('error', object, 'apiVersion', `expected ${expected}, found ${apiVersion.slice(0, 253)}`);
  }
  return findMisspeltKind(kind, object, apiVersion);
}

function findMisspeltKind(kind: string, object: string, apiVersion: string): Finding | null {
  const names = kinds.filter(({ group }) => group === MACHINE_CONFIGURATION_GROUP).map((each) => each.kind);
  if (!apiVersion.startsWith(`${MACHINE_CONFIGURATION_GROUP}/`) || names.includes(kind)) return null;
  const [near] = nearNames(kind, names);
  const hint = near === undefined ? `it is one of ${names.join(', ')}` : `did you mean ${near}?`;
  return found('error', object, 'kind', `${MACHINE_CONFIGURATION_GROUP} has no kind ${kind.slice(0, 63)}; ${hint}`);
}
