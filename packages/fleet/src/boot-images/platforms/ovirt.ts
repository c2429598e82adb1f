import { fieldAt, type JsonObject, textAt } from '../json.ts';
import { type Artifact, badSpec, type ImageQuestion, type ImageVerdict, type MachineResource } from '../verdict.ts';
import {
  readArtifact,
  download,
  importedImage,
  isNamedByInstaller,
  nameWithVersion,
  useImage,
  word,
} from './import.ts';
import { type PlatformDef, imageFields } from './platform.ts';

export const ovirt = {
  type: 'ovirt',
  providerSpec: {
    kind: 'OvirtMachineProviderSpec',
    imagePaths: imageFields('template_name'),
    apiVersions: ['ovirtproviderconfig.machine.openshift.io/v1beta1'],
  },
  machineApi: judgeProviderSpec,
} as const satisfies PlatformDef;

const MAX_NAME_LENGTH = 255;

/** A template of virtual machines, by its name. It is built from the image for OpenStack. */
function judgeProviderSpec(spec: JsonObject, question: ImageQuestion): ImageVerdict {
  const current = textAt(spec, 'template_name');
  // The only characters allowed in names there; they rule out Ansible expressions.
  if (!/^[\w.-]+$/.test(current)) {
    return badSpec('template_name', 'the name of a template', fieldAt(spec, 'template_name'));
  }
  return importedImage(
    {
      current,
      isInstallers: isNamedByInstaller(current, question),
      artifact: readArtifact(question.images, 'openstack', 'qcow2.gz'),
      place: 'artifacts.openstack.formats["qcow2.gz"]',
      nameOf: (version) => nameWithVersion(current, version, MAX_NAME_LENGTH),
      commands: (artifact, to) => buildCommands(artifact, to, question.resource),
    },
    question,
  );
}

/** Creates a template from a temporary virtual machine. The login is in the environment: OVIRT_URL and so on. */
function buildCommands(artifact: Artifact, name: string, resource: MachineResource): readonly string[] {
  const { file, commands } = download(artifact);
  const vm = `${name}-import`;
  const disk = { name, upload_image_path: file, size: '16GiB', format: 'cow', bootable: true, wait: true };
  return [
    ...commands,
    ansible('ovirt_disk', { ...disk, storage_domain: 'NAME_OF_THE_STORAGE_DOMAIN' }),
    ansible('ovirt_vm', {
      name: vm,
      cluster: 'NAME_OF_THE_CLUSTER',
      disks: [{ name, bootable: true }],
      state: 'stopped',
    }),
    ansible('ovirt_template', { name, vm, cluster: 'NAME_OF_THE_CLUSTER', state: 'present' }),
    ansible('ovirt_vm', { name: vm, state: 'absent' }),
    useImage(resource, { template_name: name }),
  ];
}

const ansible = (module: string, values: JsonObject): string =>
  `ansible localhost --module-name ovirt.ovirt.${module} --args ${word(JSON.stringify(values))}`;
