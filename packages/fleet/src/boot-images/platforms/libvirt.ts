import { fieldAt, type JsonObject, textAt } from '../json.ts';
import { badSpec, type ImageQuestion, type ImageVerdict } from '../verdict.ts';
import { readArtifact, download, importedImage, nameWithVersion, useImage, word } from './import.ts';
import type { PlatformDef } from './platform.ts';

export const libvirt = {
  type: 'libvirt',
  providerSpec: {
    kind: 'LibvirtMachineProviderConfig',
    imagePaths: () => [['volume', 'baseVolumeID']],
    apiVersions: ['libvirtproviderconfig.openshift.io/v1beta1'],
    userData: ['ignition', 'userDataSecret'],
  },
  machineApi: judgeProviderSpec,
} as const satisfies PlatformDef;

const MAX_NAME_LENGTH = 200;

/** The base volume of the machines' disks. The installer names it `<cluster>-base`. */
function judgeProviderSpec(spec: JsonObject, question: ImageQuestion): ImageVerdict {
  const current = textAt(spec, 'volume', 'baseVolumeID');
  if (current === '') {
    return badSpec('volume.baseVolumeID', 'the name of a volume', fieldAt(spec, 'volume', 'baseVolumeID'));
  }
  const pool = textAt(spec, 'volume', 'poolName') || 'default';
  const connect = `virsh --connect ${word(textAt(spec, 'uri') || 'qemu:///system')}`;
  const own = `${question.infrastructureName}-base`;
  const isOwn = current === own || current.startsWith(`${own}-`);
  return importedImage(
    {
      current,
      isInstallers: question.infrastructureName !== '' && isOwn,
      artifact: readArtifact(question.images, 'qemu', 'qcow2.gz'),
      place: 'artifacts.qemu.formats["qcow2.gz"]',
      nameOf: (version) => nameWithVersion(current, version, MAX_NAME_LENGTH),
      commands: (artifact, to) => {
        const { file, commands } = download(artifact);
        const volume = to.slice(to.lastIndexOf('/') + 1);
        return [
          ...commands,
          `${connect} vol-create-as ${word(pool)} ${word(volume)} "$(stat --format %s ${word(file)})" --format qcow2`,
          `${connect} vol-upload ${word(volume)} ${word(file)} --pool ${word(pool)}`,
          useImage(question.resource, { volume: { baseVolumeID: to } }),
        ];
      },
    },
    question,
  );
}
