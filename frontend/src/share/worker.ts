/** Evaluates the network beside the page, so that the page stays quick. */

import type * as ort from "onnxruntime-web/wasm";
import type { Asked, Told } from "./network";
import { threadsOf } from "./threads";

const tell = (told: Told, moved: Transferable[] = []): void => (self as unknown as Worker).postMessage(told, moved);

let library: typeof ort;
let session: Promise<ort.InferenceSession> | null = null;

self.addEventListener("message", ({ data }: MessageEvent<Asked | { runtime: ArrayBuffer; network: ArrayBuffer }>) => {
  if ("network" in data) {
    session = opened(data.runtime, data.network);
    session.then(
      () => tell({ opened: true }),
      (error: unknown) => tell({ failed: String(error) }),
    );
  } else void answer(data);
});

async function opened(runtime: ArrayBuffer, network: ArrayBuffer): Promise<ort.InferenceSession> {
  library = await import("onnxruntime-web/wasm");
  const { env, InferenceSession } = library;
  env.wasm.numThreads = threadsOf(self.crossOriginIsolated, navigator.hardwareConcurrency);
  env.wasm.wasmBinary = runtime;
  env.logLevel = "error";
  return InferenceSession.create(new Uint8Array(network), { executionProviders: ["wasm"], graphOptimizationLevel: "all" });
}

async function answer({ id, codes, state, rows }: Asked): Promise<void> {
  try {
    const found = await (await session!).run({
      codes: new library.Tensor("uint8", codes, [rows, codes.length / rows]),
      state: new library.Tensor("uint8", state, [rows, state.length / rows]),
    });
    const outputs = Object.fromEntries(Object.entries(found).map(([name, { data }]) => [name, Float32Array.from(data as Float32Array)]));
    tell({ id, outputs }, Object.values(outputs).map(({ buffer }) => buffer));
  } catch (error) {
    tell({ id, problem: String(error) });
  }
}
