import { fieldAt, isJsonObject, type JsonObject, textAt } from '../json.ts';
import {
  type Architecture,
  badSpec,
  badTemplate,
  type ImageQuestion,
  type ImageVerdict,
  notOurs,
  unknownImage,
} from '../verdict.ts';
import {
  readArtifact,
  download,
  importedImage,
  isNamedByInstaller,
  nameWithVersion,
  useImage,
  word,
} from './import.ts';
import { ownImageName, type PlatformDef, type TemplatePlace, judgeView, imageFields } from './platform.ts';

const TEMPLATE_KIND = 'IBMVPCMachineTemplate';

export const ibmcloud = {
  type: 'ibmcloud',
  providerSpec: {
    kind: 'IBMCloudMachineProviderSpec',
    imagePaths: imageFields('image'),
    apiVersions: ['ibmcloudproviderconfig.openshift.io/v1beta1'],
  },
  machineApi: judgeProviderSpec,
  clusterApi: {
    kind: TEMPLATE_KIND,
    imagePaths: imageFields('image', 'catalogOffering'),
    rules: { v1beta1: judgeTemplate, v1beta2: judgeTemplate },
  },
  regionIn: ({ ibmcloud }) => ibmcloud?.location,
} as const satisfies PlatformDef;

const MAX_NAME_LENGTH = 63;

/** Names of operating systems in VPC; the cloud has none of ours for s390x, and accepts the image as RHEL. */
const osNames: Partial<Record<Architecture, string>> = { s390x: 'red-8-s390x-byol' };

/** A custom image of VPC, by its name, which has no dots. */
function judgeProviderSpec(spec: JsonObject, question: ImageQuestion): ImageVerdict {
  const current = textAt(spec, 'image');
  if (current === '') return badSpec('image', 'the name of an image', fieldAt(spec, 'image'));
  const region = textAt(spec, 'region');
  if (region === '') return badSpec('region', 'the region of the machines', fieldAt(spec, 'region'));
  const group = textAt(spec, 'resourceGroup') || question.infrastructureName;
  return importedImage(
    {
      current,
      isInstallers: isNamedByInstaller(current, question),
      artifact: readArtifact(question.images, 'ibmcloud', 'qcow2.gz'),
      place: 'artifacts.ibmcloud.formats["qcow2.gz"]',
      nameOf: (version) => nameWithVersion(current, version.replaceAll('.', '-'), MAX_NAME_LENGTH),
      commands: (artifact, to) => {
        const { file, commands } = download(artifact);
        const osName = osNames[question.architecture] ?? 'rhel-coreos-stable-amd64';
        return [
          ...commands,
          `ibmcloud cos upload --bucket "$BUCKET" --region ${word(region)} --key ${word(file)} --file ${word(file)}`,
          `ibmcloud is image-create ${word(to)} --file ${word(`cos://${region}/`)}"$BUCKET"/${word(file)} --os-name ${osName} --resource-group-name ${word(group)}`,
          useImage(question.resource, { image: to }),
        ];
      },
    },
    question,
  );
}

/** A custom image of VPC by name or, with precedence, by id; or an offering of the catalogue. */
function judgeTemplate(spec: JsonObject, question: ImageQuestion, place: TemplatePlace): ImageVerdict {
  const name = readImageName(spec);
  const text = name || otherText(spec);
  if (text === '') return badTemplate('image', 'name or id', fieldAt(spec, 'image'));
  if (name === '' && !question.isAdopted)
    return textAt(spec, 'image', 'id') === ''
      ? notOurs(text, `The image is selected by ${text}, which does not identify its version.`)
      : unknownImage(text, question);
  const region = parseRegion(textAt(spec, 'zone')) || place.region || 'REGION';
  const view = {
    kind: TEMPLATE_KIND,
    rule: judgeProviderSpec,
    providerSpec: { image: name || ownImageName(question), region },
    image: text,
    imported: (to: string) => ({ image: { name: to }, catalogOffering: null }),
  };
  return judgeView(spec, view, question);
}

const otherText = (spec: JsonObject): string => {
  if (isJsonObject(fieldAt(spec, 'catalogOffering'))) return 'catalogOffering';
  const id = textAt(spec, 'image', 'id');
  return id === '' ? '' : `id ${id}`;
};

/** '' if another field takes precedence. */
const readImageName = (spec: JsonObject): string => (otherText(spec) === '' ? textAt(spec, 'image', 'name') : '');

/** For example us-south from the zone us-south-1. */
const parseRegion = (zone: string): string => /^([a-z]{2}-[a-z]+)-\d+$/.exec(zone)?.[1] ?? '';
