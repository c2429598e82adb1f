// What no machine can take and CEL can decide, refused before it is stored. The render controller checks it too (fleet:
// `readMachineConfig`), and much more.
import type { Identity } from '../identity.ts';
import { celList, type PolicyDefinition } from '../policy.ts';
import { extensionNames, kernelTypes, machineConfigs } from './machine-config.ts';
import { RENDERED_PREFIX } from './names.ts';

const NAMED = "'MachineConfig ' + object.metadata.name + ', ";

/** spec.config has no schema, so its fields can have any type. */
const isNumber = '(type(file.mode) == int || type(file.mode) == double)';
const isWhole = '(type(file.mode) == int || double(int(file.mode)) == file.mode)';
const isMode = `${isNumber} && file.mode >= 0 && file.mode <= 511 && ${isWhole}`;
const hasBadMode = `type(file) == map && 'mode' in file && file.mode != null && !(${isMode})`;

/** The cost of evaluation grows faster than the list. MachineConfigs with more files are left to the render controller. */
const MAX_FILES = 2000;

export const machineConfigContentPolicy = (exempt: readonly Identity[]): PolicyDefinition => ({
  name: 'machine-config-content',
  description:
    'The kernel type and the extensions of a MachineConfig must exist, and the modes of its files must be possible.',
  resource: machineConfigs,
  operations: ['CREATE', 'UPDATE'],
  exempt,
  about: { name: 'not-rendered', expression: `!object.metadata.name.startsWith('${RENDERED_PREFIX}')` },
  variables: [
    { name: 'kernelType', expression: "object.?spec.kernelType.orValue('')" },
    {
      name: 'extensions',
      expression: `object.?spec.extensions.orValue([]).filter(name, !(name in ${celList(extensionNames)}))`,
    },
    { name: 'storage', expression: 'object.?spec.config.storage.orValue({})' },
    { name: 'list', expression: 'type(variables.storage) == map ? variables.storage.?files.orValue([]) : []' },
    {
      name: 'files',
      expression: `type(variables.list) == list && size(variables.list) <= ${MAX_FILES} ? variables.list.filter(file, ${hasBadMode}) : []`,
    },
  ],
  validations: [
    {
      expression: `variables.kernelType in ${celList(['', ...kernelTypes])}`,
      message: `spec.kernelType of a MachineConfig: expected ${kernelTypes.join(', ')} or none`,
      messageExpression: `${NAMED}spec.kernelType: expected ${kernelTypes.join(', ')} or none, found "' + variables.kernelType + '"'`,
    },
    {
      expression: 'size(variables.extensions) == 0',
      message: `spec.extensions of a MachineConfig: expected only ${extensionNames.join(', ')}`,
      messageExpression: `${NAMED}spec.extensions: expected only ${extensionNames.join(', ')}, found "' + variables.extensions.join('", "') + '"'`,
    },
    {
      expression: 'size(variables.files) == 0',
      message:
        'spec.config.storage.files of a MachineConfig: expected modes that are whole numbers from 0 to 511 (octal 0777). JSON numbers are decimal: for octal 0644 write 420',
      messageExpression: `${NAMED}spec.config.storage.files: expected modes that are whole numbers from 0 to 511 (octal 0777)' + (type(variables.files[0].?path.orValue(0)) == string ? '; that of ' + variables.files[0].path + ' is not' : '') + '. JSON numbers are decimal: for octal 0644 write 420'`,
    },
  ],
});
