/** What a registry asks for in a 401, from its WWW-Authenticate header. */
export type Challenge =
  | { readonly scheme: 'basic' }
  | {
      readonly scheme: 'bearer';
      readonly realm: string;
      readonly service: string | undefined;
      readonly scope: string | undefined;
    };

const longest = 8 * 1024;

/** The first challenge that can be answered, Bearer before Basic; undefined: there is none. */
export function parseChallenge(header: string | readonly string[] | undefined): Challenge | undefined {
  const text = typeof header === 'string' ? header : (header ?? []).join(', ');
  if (text.length > longest) return undefined;
  const challenges = challengesIn(text);
  const bearer = challenges.find(({ scheme, parameters }) => scheme === 'bearer' && parameters.has('realm'));
  if (bearer !== undefined) {
    const { parameters } = bearer;
    const realm = parameters.get('realm') ?? '';
    return { scheme: 'bearer', realm, service: parameters.get('service'), scope: parameters.get('scope') };
  }
  return challenges.some(({ scheme }) => scheme === 'basic') ? { scheme: 'basic' } : undefined;
}

interface RawChallenge {
  scheme: string;
  parameters: Map<string, string>;
}

// One piece at a time: `name=value`, `name="value with \" and ,"`, or a word that begins a challenge (RFC 9110, 11.6.1).
const piece = /\s*(?:,\s*)*(?:([\w!#$%&'*+.^`|~-]+)\s*=\s*(?:"((?:[^"\\]|\\.)*)"|([^\s,"]*))|([\w!#$%&'*+.^`|~-]+))/y;

function challengesIn(text: string): RawChallenge[] {
  const found: RawChallenge[] = [];
  piece.lastIndex = 0;
  for (let match = piece.exec(text); match !== null; match = piece.exec(text)) {
    const [, name, quoted, bare, scheme] = match;
    if (scheme !== undefined) found.push({ scheme: scheme.toLowerCase(), parameters: new Map() });
    else if (name !== undefined) {
      found.at(-1)?.parameters.set(name.toLowerCase(), quoted?.replaceAll(/\\(.)/g, '$1') ?? bare ?? '');
    }
  }
  return found;
}
