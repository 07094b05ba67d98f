// Element types of tensors, and the tensors that make_models.py writes as test data.

import { readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';

/** ONNX Runtime's names of the element types, by the numbers of TensorProto. */
export const TYPES = [
  null, 'float32', 'uint8', 'int8', 'uint16', 'int16', 'int32', 'int64', 'string', 'bool', 'float16',
  'float64', 'uint32', 'uint64',
];

/** The arrays that hold elements of these types. */
export const ARRAYS = {
  float32: Float32Array, uint8: Uint8Array, int8: Int8Array, uint16: Uint16Array, int16: Int16Array,
  int32: Int32Array, int64: BigInt64Array, bool: Uint8Array, float16: Uint16Array, float64: Float64Array,
  uint32: Uint32Array, uint64: BigUint64Array,
};

/** Yields [field number, value] of a protobuf message: BigInt for varints, bytes for the rest. */
function* fields(bytes) {
  let at = 0;
  const varint = () => {
    let value = 0n;
    for (let shift = 0n; ; shift += 7n) {
      const byte = bytes[at++];
      value |= BigInt(byte & 0x7f) << shift;
      if (byte < 0x80) return value;
    }
  };
  while (at < bytes.length) {
    const key = Number(varint());
    if ((key & 7) === 0) {
      yield [key >> 3, varint()];
    } else if ((key & 7) === 2) {
      const size = Number(varint());
      yield [key >> 3, bytes.subarray(at, (at += size))];
    } else {
      throw new Error(`wire type ${key & 7} is not used by the tensors of make_models.py`);
    }
  }
}

/** Reads a TensorProto whose elements are in raw_data. */
export function readTensor(file) {
  const tensor = { name: '', dims: [], raw: new Uint8Array() };
  for (const [number, value] of fields(readFileSync(file))) {
    if (number === 1) tensor.dims.push(Number(value));
    else if (number === 2) tensor.elemType = Number(value);
    else if (number === 8) tensor.name = Buffer.from(value).toString();
    else if (number === 9) tensor.raw = value;
    else throw new Error(`${file}: unexpected field ${number}`);
  }
  const type = TYPES[tensor.elemType];
  const copy = Uint8Array.from(tensor.raw); // aligned for the typed array
  return { name: tensor.name, type, dims: tensor.dims, data: new ARRAYS[type](copy.buffer) };
}

/** The files PREFIX0.pb, PREFIX1.pb, ... of a folder, in this order. */
export function tensorFiles(folder, prefix) {
  const count = readdirSync(folder).filter((file) => file.startsWith(prefix)).length;
  return Array.from({ length: count }, (_, i) => join(folder, `${prefix}${i}.pb`));
}

export const readTensors = (folder, prefix) => tensorFiles(folder, prefix).map(readTensor);
