import * as fc from 'fast-check';
import { isTemplateKind, templateKind, templateKinds, templateRule } from './index.ts';
import type { JsonObject } from '../json.ts';
import { describe, expect, it } from 'vitest';
import { cloneTemplate } from '../cluster-api.ts';
import {
  buildMachineTemplate,
  type TemplateCase,
  templateCases,
  buildTemplateQuestion,
  TEMPLATE_REGION,
} from '../testing/machine-templates.ts';
import { olderStream, rhel10, rhel9 } from '../testing/stream-metadata.ts';
import type { ImageRule } from '../verdict.ts';
import { regionOfZone } from './aws.ts';

const templateKindNames = templateKinds.map(({ kind }) => kind);

function findRule(
  { kind, apiVersion }: Pick<TemplateCase, 'kind' | 'apiVersion'>,
  region = TEMPLATE_REGION,
): ImageRule {
  const rule = templateRule(kind, apiVersion, { region, failureDomain: '' });
  if (rule === null) throw new Error(`no rule for ${kind} of ${apiVersion}`);
  return rule;
}

/** All that a rule may change. */
const imageFields = new Set(['ami', 'image', 'template']);
const around = (spec: JsonObject): JsonObject =>
  Object.fromEntries(Object.entries(spec).filter(([name]) => !imageFields.has(name)));

describe.each(templateKindNames)('the image in a %s', (kind) => {
  const cases = templateCases.filter((each) => each.kind === kind);

  it.each(cases)('$name: $verdict', (each) => {
    const verdict = findRule(each)(each.spec, buildTemplateQuestion(each));
    expect(verdict).toMatchObject({
      type: each.verdict,
      ...(each.to !== undefined && { to: each.to }),
      ...(each.version !== undefined && { version: each.version }),
      ...(each.code !== undefined && { code: each.code }),
    });
    expect(verdict.type === 'change' ? verdict.spec : undefined).toEqual(each.after);
  });

  it('is checked in every version that is known', () => {
    expect(new Set(cases.map(({ apiVersion }) => apiVersion))).toEqual(new Set(templateKind(kind).versions));
  });

  it('gets a verdict in terms of the template, whatever its value', () => {
    fc.assert(
      fc.property(
        fc.constantFrom(...cases),
        fc.jsonValue(),
        fc.constantFrom(...imageFields),
        fc.boolean(),
        (each, value, field, isAdopted) => {
          const spec = { ...each.spec, [field]: JSON.parse(JSON.stringify(value)) };
          const verdict = findRule(each)(spec, { ...buildTemplateQuestion(each), isAdopted });
          expect(verdict.type === 'failed' ? verdict.message : '').not.toContain('providerSpec');
        },
      ),
    );
  });
});

const changed = templateKindNames.filter((kind) =>
  templateCases.some((each) => each.kind === kind && each.verdict === 'change'),
);

describe.each(changed)('the image in a %s that is a reference', (kind) => {
  const cases = templateCases.filter((each) => each.kind === kind);

  const extra = fc.dictionary(
    fc.stringMatching(/^[a-z]{1,8}$/).filter((key) => !imageFields.has(key) && !(key in (cases[0]?.spec ?? {}))),
    fc.jsonValue({ maxDepth: 3 }),
    { maxKeys: 4 },
  );

  it('changes, and nothing around it does, and then it is current', () => {
    fc.assert(
      fc.property(
        fc.constantFrom(...cases),
        extra,
        fc.constantFrom(rhel9, rhel10, olderStream),
        fc.boolean(),
        (each, more, stream, isAdopted) => {
          const question = { ...buildTemplateQuestion(each, stream), isAdopted };
          const spec: JsonObject = { ...JSON.parse(JSON.stringify(more)), ...each.spec };
          const verdict = findRule(each)(spec, question);
          if (verdict.type !== 'change') return;
          expect(JSON.stringify(around(verdict.spec))).toBe(JSON.stringify(around(spec)));
          expect(findRule(each)(verdict.spec, question)).toMatchObject({ type: 'current', version: verdict.version });
        },
      ),
    );
  });

  it('goes into a clone, with the rest of the template', () => {
    for (const each of cases) {
      const verdict = findRule(each)(each.spec, buildTemplateQuestion(each));
      if (verdict.type !== 'change') continue;
      const clone = cloneTemplate(buildMachineTemplate(each), verdict.spec);
      expect(clone.spec).toEqual({ template: { metadata: { labels: { tier: 'compute' } }, spec: each.after } });
    }
  });
});

describe('the commands for the user', () => {
  const manual = templateCases.flatMap((each) => {
    const verdict = findRule(each)(each.spec, buildTemplateQuestion(each));
    return verdict.type === 'manual' ? [{ ...each, commands: verdict.commands }] : [];
  });

  it.each(manual)('$name: create another template and reference it', ({ kind, name, commands }) => {
    const [clone = '', patch = ''] = commands.slice(-2);
    expect(commands.join('\n')).not.toContain('machine.openshift.io');
    expect(clone).toContain(`get ${templateKind(kind).plural}.infrastructure.cluster.x-k8s.io "$TEMPLATE"`);
    expect(patch).toContain(`patch machinesets.cluster.x-k8s.io ${name} --type merge`);
    const [, made] = /--arg name (\S+)/.exec(clone) ?? [];
    expect(patch).toContain(`{"infrastructureRef":{"name":"${made}"}}`);
  });

  it('leads to a template that is current', () => {
    for (const each of manual.filter(({ name }) => name !== 'capi-metal3-cached')) {
      const fields = /--argjson fields '(.*?)' '/.exec(each.commands.at(-2) ?? '')?.[1] ?? '';
      const all = { ...each.spec, ...JSON.parse(fields) };
      const spec = Object.fromEntries(Object.entries(all).filter(([, value]) => value !== null)) as JsonObject;
      expect({ name: each.name, type: findRule(each)(spec, buildTemplateQuestion(each)).type }).toEqual({
        name: each.name,
        type: 'current',
      });
    }
  });
});

describe('a template', () => {
  it('of aws has no region', () => {
    const each = templateCases.find(({ kind }) => kind === 'AWSMachineTemplate');
    if (each === undefined) throw new Error('no case');
    expect(findRule(each, '')(each.spec, buildTemplateQuestion(each))).toMatchObject({
      type: 'failed',
      code: 'SLW_BOOT_IMAGES_REGION',
    });
    expect(findRule(each, 'mars-1')(each.spec, buildTemplateQuestion(each))).toMatchObject({
      type: 'failed',
      code: 'SLW_BOOT_IMAGES_REGION',
    });
  });

  it.each([
    ['us-east-1a', 'us-east-1'],
    ['us-gov-west-1b', 'us-gov-west-1'],
    ['ap-southeast-2c', 'ap-southeast-2'],
    ['us-east-1', ''],
    ['rack-4', ''],
    ['', ''],
  ])('in zone %s is in region "%s"', (zone, region) => {
    expect(regionOfZone(zone)).toBe(region);
  });

  it('of an unknown kind or version has no rule', () => {
    const nowhere = { region: '', failureDomain: '' };
    expect(isTemplateKind('OwnMachineTemplate')).toBe(false);
    expect(isTemplateKind('constructor')).toBe(false);
    expect(templateRule('GCPMachineTemplate', 'v1', nowhere)).toBeNull();
    expect(templateRule('GCPMachineTemplate', 'constructor', nowhere)).toBeNull();
  });
});

it('an image in a template is unknown, not user-managed, if it is named by an id', () => {
  const unknown = templateCases.filter((each) => {
    const verdict = findRule(each)(each.spec, buildTemplateQuestion(each));
    return verdict.type === 'theirs' && verdict.isUnknown;
  });
  expect(unknown.map(({ name }) => name)).toEqual([
    'capi-aws-unknown',
    'capi-openstack-untold-0',
    'capi-openstack-v1beta2-untold-0',
    'capi-nutanix-untold-0',
    'capi-powervs-untold-0',
    'capi-powervs-untold-1',
    'capi-powervs-v1beta3-untold-0',
    'capi-powervs-v1beta3-untold-1',
    'capi-vpc-untold-0',
    'capi-vpc-v1beta2-untold-0',
  ]);
});
