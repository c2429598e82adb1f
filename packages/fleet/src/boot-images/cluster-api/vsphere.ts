import { fieldAt, textAt } from '../json-path.ts';
import { machineApi } from '../platforms/vsphere.ts';
import { badTemplate, type TemplateRule, verdictOfView } from './template-rule.ts';

/** Where the Machine API has a workspace, templates have its fields. */
const places = ['server', 'datacenter', 'folder', 'datastore', 'resourcePool'] as const;

/** A template of virtual machines, by its name or its path in the inventory. */
export const clusterApi: TemplateRule = (spec, question) => {
  const template = textAt(spec, 'template');
  if (template === '') return badTemplate('template', 'the name of a template', fieldAt(spec, 'template'));
  const workspace = Object.fromEntries(places.map((name) => [name, textAt(spec, name)]));
  const providerSpec = { template, workspace, network: fieldAt(spec, 'network') ?? {} };
  const imported = (name: string) => ({ template: name });
  return verdictOfView(spec, { plural: 'vspheremachinetemplates', rule: machineApi, providerSpec, imported }, question);
};
