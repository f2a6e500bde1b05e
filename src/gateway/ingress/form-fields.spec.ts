import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { FormUpload, MediaFile } from '../../providers/translation.js';
import { encodeBody } from '../translation/encode-body.js';
import { formFields } from './form-fields.js';
import { boundaryOf } from './multipart-scanner.js';

/** Encodes the parts as for sending and reads the result. */
function sentAndRead(parts: FormUpload['parts']): unknown {
  const { contentType, bytes } = encodeBody(new FormUpload(parts));
  return formFields(bytes, boundaryOf(contentType) ?? '');
}

describe('a form that was read whole', () => {
  it('says what was written, files of any bytes included', () => {
    const name = fc.stringMatching(/^[a-z_]{1,12}$/);
    const file = fc
      .tuple(fc.uint8Array({ maxLength: 200 }), fc.stringMatching(/^[a-z ]{0,8}\.wav$/))
      .map(([bytes, fileName]) => new MediaFile('audio/wav', bytes, fileName));
    fc.assert(
      fc.property(
        fc.uniqueArray(fc.tuple(name, fc.oneof(fc.string(), file)), { selector: ([n]) => n }),
        (parts) => {
          const read = sentAndRead(parts) as Record<string, string | MediaFile>;
          for (const [field, value] of parts) {
            if (typeof value === 'string') expect(read[field]).toBe(value);
            else expect(Buffer.from((read[field] as MediaFile).bytes)).toEqual(Buffer.from(value.bytes));
          }
        },
      ),
    );
  });

  it('has lists of what came more than once, or by a name that marks a list', () => {
    expect(
      sentAndRead([
        ['a', '1'],
        ['a', '2'],
        ['timestamp_granularities[]', 'word'],
        ['b', '3'],
      ]),
    ).toEqual({ a: ['1', '2'], timestamp_granularities: ['word'], b: '3' });
  });

  it('keeps long texts, which the scanner passes over', () => {
    const prompt = 'x'.repeat(32_000);
    expect(sentAndRead([['prompt', prompt]])).toEqual({ prompt });
  });

  it('names a file as it was named, and cannot be broken out of', () => {
    const file = new MediaFile('image/png', Buffer.from('P'), 'a"\r\nx: y.png');
    expect(sentAndRead([['image', file]])).toEqual({
      image: new MediaFile('image/png', Buffer.from('P'), 'a%22%0D%0Ax: y.png'),
    });
  });

  it('leaves out a part that was cut, and refuses more parts than anybody needs', () => {
    const { contentType, bytes } = encodeBody(
      new FormUpload([
        ['a', '1'],
        ['b', '22222'],
      ]),
    );
    const boundary = boundaryOf(contentType) ?? '';
    expect(formFields(bytes.subarray(0, bytes.indexOf('22222') + 2), boundary)).toEqual({ a: '1' });
    const many = Array.from({ length: 300 }, (_, at) => [`f${at}`, ''] as const);
    expect(() => sentAndRead(many)).toThrow('256');
  });
});
