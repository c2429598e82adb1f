import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { readManifestFiles } from './documents.ts';
import { formatPlace, type PlacedFinding } from './manifest-document.ts';

let dir: string;
beforeAll(async () => {
  dir = await mkdtemp(join(tmpdir(), 'foreign-'));
});
afterAll(() => rm(dir, { recursive: true }));

const GROUP = 'machineconfiguration.openshift.io';
const MACHINE_CONFIG = `apiVersion: ${GROUP}/v1\nkind: MachineConfig\nmetadata:\n  name: 99-x\n`;

/** Findings as `severity place: message`, with paths relative to the directory. */
async function read(path: string, named = path): Promise<string[]> {
  const findings: PlacedFinding[] = [];
  for await (const file of readManifestFiles([join(dir, named)], (async function* () {})())) {
    findings.push(...file.findings);
  }
  return findings.map((each) => `${each.severity} ${formatPlace(each)}: ${each.message}`.replaceAll(`${dir}/`, ''));
}

async function save(path: string, content: string | Uint8Array): Promise<void> {
  await mkdir(dirname(join(dir, path)), { recursive: true });
  await writeFile(join(dir, path), content);
}

describe('a file that is not a manifest for Slipway is recognised', () => {
  it.each<[string, string, string | Uint8Array, string]>([
    [
      'a Butane config for OpenShift',
      'a/99-x.bu',
      'variant: openshift\nversion: 4.18.0\nmetadata:\n  name: x\n',
      'error a/99-x.bu, line 1: it is a Butane config, which no API server accepts. Translate it first: butane --strict a/99-x.bu | slipway validate -f -',
    ],
    [
      'a Butane config of another variant',
      'b.yaml',
      '# mine\nvariant: fcos\nversion: 1.5.0\n',
      'error b.yaml, line 2: it is a Butane config, which no API server accepts. Translate it first: butane --strict b.yaml | slipway ignition validate -. With variant openshift, Butane writes a MachineConfig',
    ],
    [
      'a Butane config without its header',
      'c d.yaml',
      'storage:\n  files:\n    - path: /a\n      contents:\n        inline: x\n',
      "error c d.yaml, line 1: it is a Butane config, which no API server accepts. Translate it first: butane --strict 'c d.yaml' | slipway validate -f -",
    ],
    [
      'an Ignition config',
      'x.ign',
      '{"ignition":{"version":"3.4.0"}}',
      'error x.ign, line 1: it is an Ignition config, not an object. Check it with: slipway ignition validate x.ign; to apply it, put it into spec.config of a MachineConfig',
    ],
    [
      'a Helm template that is not YAML',
      'chart/templates/mc.yaml',
      '{{- if .Values.on }}\napiVersion: v1\n{{- end }}\n',
      'error chart/templates/mc.yaml, line 1: it is a template ({{ … }}), not a manifest. Render it first, for Helm: helm template chart | slipway validate -f -',
    ],
    [
      'a Helm template that is YAML',
      't.yaml',
      MACHINE_CONFIG.replace('99-x', '{{ .Release.Name }}-x'),
      'error t.yaml, line 4: it is a template ({{ … }}), not a manifest. Render it first, for Helm: helm template CHART | slipway validate -f -',
    ],
    [
      'a Helm template that is YAML with a map as a key',
      'u.yaml',
      `${MACHINE_CONFIG}spec:\n  fips: {{ .Values.fips }}\n`,
      'error u.yaml, line 1: it is a template ({{ … }}), not a manifest. Render it first, for Helm: helm template CHART | slipway validate -f -',
    ],
    [
      'a Helm chart',
      'chart/Chart.yaml',
      'apiVersion: v2\nname: x\nversion: 1.0.0\n',
      'error chart/Chart.yaml, line 1: it describes a Helm chart, and is left out. Check the manifests of the chart: helm template chart | slipway validate -f -',
    ],
    [
      'a kustomization',
      'k/kustomization.yaml',
      'resources: [a.yaml]\n',
      'error k/kustomization.yaml, line 1: it is a kustomization, and is left out. Check the manifests that it builds: kubectl kustomize k | slipway validate -f -',
    ],
    [
      'a kustomization by its kind',
      'k2/x.yaml',
      'apiVersion: kustomize.config.k8s.io/v1beta1\nkind: Kustomization\n',
      'error k2/x.yaml, line 1: it is a kustomization, and is left out. Check the manifests that it builds: kubectl kustomize k2 | slipway validate -f -',
    ],
    [
      'a kind of the Machine Config Operator that has no effect',
      'kc.yaml',
      `apiVersion: ${GROUP}/v1\nkind: KubeletConfig\nmetadata:\n  name: pods\n`,
      'warning kc.yaml, line 1: KubeletConfig pods: nothing in Slipway acts on this kind; write its settings into the kubelet’s configuration file with a MachineConfig',
    ],
    [
      'a kind that newer clusters have in our group',
      'iri.yaml',
      `apiVersion: ${GROUP}/v1alpha1\nkind: InternalReleaseImage\nmetadata:\n  name: cluster\n`,
      'warning iri.yaml, line 1: InternalReleaseImage cluster: nothing in Slipway acts on this kind; serve release images from a registry of your own',
    ],
    [
      'mirrors',
      'idms.yaml',
      'apiVersion: config.openshift.io/v1\nkind: ImageDigestMirrorSet\nmetadata:\n  name: m\n',
      'warning idms.yaml, line 1: ImageDigestMirrorSet m: nothing in Slipway acts on this kind; write the mirrors into /etc/containers/registries.conf.d with a MachineConfig',
    ],
    [
      'a misspelt kind',
      'kind.yaml',
      MACHINE_CONFIG.replace('kind: MachineConfig', 'kind: Machineconfig'),
      `error kind.yaml, line 2: Machineconfig 99-x, kind: ${GROUP} has no kind Machineconfig; did you mean MachineConfig?`,
    ],
    [
      'a wrong group',
      'group.yaml',
      MACHINE_CONFIG.replace(`${GROUP}/v1`, 'v1'),
      `error group.yaml, line 1: MachineConfig 99-x, apiVersion: expected ${GROUP}/v1, found v1`,
    ],
    [
      'a wrong group of another API',
      'metal3.yaml',
      'apiVersion: metal3.io.x/v1alpha1\nkind: DataImage\nmetadata:\n  name: a\n',
      'error metal3.yaml, line 1: DataImage a, apiVersion: expected metal3.io/v1alpha1, found metal3.io.x/v1alpha1',
    ],
    [
      'no apiVersion',
      'version.yaml',
      'kind: MachineConfig\nmetadata:\n  name: 99-x\n',
      `error version.yaml, line 1: MachineConfig 99-x, apiVersion: expected ${GROUP}/v1, found none`,
    ],
    [
      'no kind',
      'values.yaml',
      'replicas: 3\n',
      'error values.yaml, line 1: it has no kind, so it is not a Kubernetes object. Add apiVersion and kind, or leave it out',
    ],
    [
      'a list',
      'list.yaml',
      '- a\n- b\n',
      'error list.yaml, line 1: expected an object with apiVersion, kind and metadata, found a list',
    ],
    ['an empty file', 'empty.yaml', '', 'warning empty.yaml: it has no objects; leave it out'],
    ['only comments', 'comments.yaml', '# nothing\n---\n', 'warning comments.yaml: it has no objects; leave it out'],
    [
      'UTF-16',
      'utf16.yaml',
      Buffer.from(`\uFEFF${MACHINE_CONFIG}`, 'utf16le'),
      'error utf16.yaml: it is UTF-16, and a manifest is UTF-8. Convert it: iconv -f UTF-16 -t UTF-8 utf16.yaml | slipway validate -f -',
    ],
    [
      'Latin-1',
      'latin1.yaml',
      Buffer.from('# größer\n', 'latin1'),
      'error latin1.yaml: it has characters that are not UTF-8. Convert it, for example: iconv -f ISO-8859-1 -t UTF-8 latin1.yaml | slipway validate -f -',
    ],
    [
      'a binary',
      'binary.yaml',
      Buffer.from([0x7f, 0x45, 0x4c, 0x46, 2, 1, 1, 0, 0, 0]),
      'error binary.yaml: it is not text. A manifest is YAML or JSON',
    ],
    [
      'gzip',
      'z.yaml',
      gzipSync(MACHINE_CONFIG),
      'error z.yaml: it is compressed with gzip. Unpack it: gunzip -c z.yaml | slipway validate -f -',
    ],
    [
      'a merge conflict',
      'conflict.yaml',
      `${MACHINE_CONFIG}<<<<<<< HEAD\nspec: {}\n=======\nspec: {}\n>>>>>>> other\n`,
      'error conflict.yaml, line 5: it has a merge conflict that is not resolved (<<<<<<<, =======, >>>>>>>); resolve it',
    ],
    [
      'a line of Markdown',
      'fence.yaml',
      `\`\`\`yaml\n${MACHINE_CONFIG}\`\`\`\n`,
      'error fence.yaml, line 1: it has a line with ``` from Markdown; remove it',
    ],
    [
      'JSON with comments',
      'c.json',
      '{\n  // the pool\n  "kind": "A"\n}',
      'error c.json, line 2: JSON has no comments. Remove them, or write YAML, where # starts a comment',
    ],
    [
      'JSON with a duplicate key',
      'twice.json',
      '{\n  "kind": "A",\n  "kind": "B"\n}',
      'error twice.json, line 3: the key "kind" appears twice (lines 2 and 3): keep one',
    ],
  ])('%s', async (_, path, content, expected) => {
    await save(path, content);
    expect(await read(path)).toEqual([expected]);
  });

  it('of a tool next to manifests is only left out', async () => {
    await save('mixed/kustomization.yaml', 'resources: [a.yaml]\n');
    await save('mixed/Chart.yaml', 'apiVersion: v2\nname: x\nversion: 1.0.0\n');
    await save('mixed/a.yaml', MACHINE_CONFIG);
    expect(await read('', 'mixed')).toEqual([
      expect.stringMatching(/^warning mixed\/Chart\.yaml, line 1: it describes a Helm chart/),
      expect.stringMatching(/^warning mixed\/kustomization\.yaml, line 1: it is a kustomization/),
    ]);
  });

  it.each([
    ['with Windows line ends', MACHINE_CONFIG.replaceAll('\n', '\r\n')],
    ['with a byte order mark', `\uFEFF${MACHINE_CONFIG}`],
    [
      'with braces in a unit',
      `${MACHINE_CONFIG}spec:\n  config:\n    x: |\n      ExecStart=podman ps --format '{{.ID}}'\n`,
    ],
    ['with braces in an annotation', MACHINE_CONFIG.replace('  name', '  annotations:\n    a: "{{ .ID }}"\n  name')],
    ['of another API', 'apiVersion: kustomize.toolkit.fluxcd.io/v1\nkind: Kustomization\nmetadata:\n  name: x\n'],
  ])('but not a manifest %s', async (_, text) => {
    await save('fine.yaml', text);
    expect(await read('fine.yaml')).toEqual([]);
  });

  it('but not a mistake in YAML next to braces of a unit', async () => {
    await save(
      'broken.yaml',
      `${MACHINE_CONFIG}spec:\n  unit: |\n    ExecStart=podman ps --format '{{.ID}}'\n\n\n  \ta: 1\n b: 2\n`,
    );
    expect((await read('broken.yaml')).join()).not.toContain('template');
  });
});
