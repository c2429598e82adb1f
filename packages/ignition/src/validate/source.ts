// Sources: the URLs of contents, configs, certificates and keys.
import { dataUrlProblem } from '../data-url.ts';
import { showSource } from '../report.ts';
import { type ParsedUrl, parseUrl, queryParameter } from '../url.ts';
import type { Rules } from './rules.ts';

/** The problem with a source, or null. The caller decides whether an empty one is allowed. */
export function sourceProblem(source: string, rules: Rules): string | null {
  // Data URLs are by far the most common and may be large: with a plain head they need not be parsed as URLs.
  const url = PLAIN_DATA.test(source) ? DATA : parseUrl(source);
  if (url === null) return `the source ${showSource(source)} is not a URL`;
  if (!rules.schemes.includes(url.scheme)) {
    if (url.scheme === '') return `the source ${showSource(source)} has no scheme: for text write ${asDataUrl(source)}`;
    return `the source ${showSource(source)} has scheme ${url.scheme}: spec ${rules.version} supports ${rules.schemes.join(', ')}`;
  }
  return schemeProblem(source, url);
}

/** Longer text may be secret. */
const asDataUrl = (text: string): string => (/^[\w.-]{1,20}$/.test(text) ? `data:,${text}` : 'data:,TEXT');

const PLAIN_DATA = /^data:[\w/+.;=-]*,/;
const DATA: ParsedUrl = { scheme: 'data', opaque: '', query: '' };

function schemeProblem(source: string, url: ParsedUrl): string | null {
  switch (url.scheme) {
    case 'data':
      return dataProblem(source);
    case 's3':
      return versionIdProblem(source, url);
    case 'arn':
      return isS3Arn(`arn:${url.opaque}`)
        ? versionIdProblem(source, url)
        : `the source ${showSource(source)} is not an S3 ARN: expected arn:aws:s3:::bucket/key or an access point with a key`;
    default:
      return null;
  }
}

function dataProblem(source: string): string | null {
  const problem = dataUrlProblem(source);
  if (problem !== null) return `the data URL ${showSource(source)} cannot be decoded: ${problem}`;
  // Base64 may have line breaks for the data URL decoder, but not for the URL parser before it.
  return source.includes('\n')
    ? `the data URL ${showSource(source)} has a line break: write it in one line, with %0A for a line break in text`
    : null;
}

function versionIdProblem(source: string, url: ParsedUrl): string | null {
  if (queryParameter(url.query, 'versionId') !== '') return null;
  return `the source ${showSource(source)} has an empty versionId: set or omit it`;
}

function isS3Arn(arn: string): boolean {
  const sections = arn.split(':');
  if (sections.length < 6 || sections[2] !== 's3') return false;
  const resource = sections.slice(5).join(':');
  const slashes = arn.split('/').length - 1;
  return slashes >= (resource.startsWith('accesspoint/') ? 2 : 1);
}

export type SchemeClass = 'http' | 'other' | 'none';

/** Headers can be sent only over http and https. */
export function schemeClass(source: string | undefined): SchemeClass {
  const url = source === undefined ? null : parseUrl(source);
  if (url === null) return 'none';
  return url.scheme === 'http' || url.scheme === 'https' ? 'http' : 'other';
}
