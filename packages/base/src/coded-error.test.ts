import { describe, expect, it } from 'vitest';
import { CodedError, errorGuard } from './coded-error.ts';

type Code = 'SLW_ONE' | 'SLW_TWO';

class TestError extends CodedError<Code> {
  override readonly name = 'TestError';
}
class OtherError extends CodedError<'SLW_ONE'> {}

const isTestError = errorGuard(TestError);

describe('an error with a code', () => {
  it('has its code, its name and its message', () => {
    const error = new TestError('SLW_ONE', 'no');
    expect(String(error)).toBe('TestError: no');
    expect(error.code).toBe('SLW_ONE');
    expect(error.stack).toContain('coded-error.test.ts');
  });

  it('has a cause only if one is passed', () => {
    const cause = new Error('why');
    expect(new TestError('SLW_ONE', 'no', { cause }).cause).toBe(cause);
    expect(new TestError('SLW_ONE', 'no', { cause: undefined })).not.toHaveProperty('cause');
    expect(new TestError('SLW_ONE', 'no')).not.toHaveProperty('cause');
  });

  it.each<[string, unknown, Code[], boolean]>([
    ['of the class', new TestError('SLW_ONE', 'no'), [], true],
    ['of a code', new TestError('SLW_ONE', 'no'), ['SLW_TWO', 'SLW_ONE'], true],
    ['of another code', new TestError('SLW_ONE', 'no'), ['SLW_TWO'], false],
    ['of another class', new OtherError('SLW_ONE', 'no'), ['SLW_ONE'], false],
    ['something else', 'SLW_ONE', [], false],
  ])('is recognized: %s', (_, error, codes, expected) => expect(isTestError(error, ...codes)).toBe(expected));
});
