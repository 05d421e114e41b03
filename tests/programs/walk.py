# SPDX-License-Identifier: BSD-3-Clause
# walk - walks through mpi4py's interface: every group of functions, with objects (pickled), buffers, and handles that Python frees
#
#     walk.py [FILE]     FILE: for MPI-IO
import array
import os
import sys

from mpi4py import MPI

comm = MPI.COMM_WORLD
rank, size = comm.Get_rank(), comm.Get_size()
left, right = (rank - 1) % size, (rank + 1) % size
out = array.array("i", [rank] * 64)
into = array.array("i", [0] * 64)


def whole(buffer, n=64):
    return [buffer, n, MPI.INT]


def communication():
    comm.send([rank, "text", {"a": 1}], dest=right, tag=1)
    assert comm.recv(source=left, tag=1)[0] == left
    request = comm.isend("x" * 1000, dest=right, tag=2)
    status = MPI.Status()
    comm.probe(source=left, tag=2, status=status)
    assert comm.recv(source=MPI.ANY_SOURCE, tag=2, status=status) == "x" * 1000 and status.Get_source() == left
    request.wait()
    message = None
    request = comm.Isend(whole(out, 5), dest=right, tag=3)
    while message is None:
        message = comm.Improbe(source=left, tag=3, status=status)
    message.Recv(whole(into), status)
    assert status.Get_count(MPI.INT) == 5 and status.Get_elements(MPI.INT) == 5
    request.Wait()
    comm.Sendrecv(whole(out), right, 4, whole(into), left, 4)
    comm.Sendrecv_replace(whole(into), right, 5, left, 5)
    MPI.Attach_buffer(bytearray(4096))
    comm.Bsend(whole(out, 4), right, 6)
    comm.Recv(whole(into, 4), left, 6)
    MPI.Detach_buffer()
    comm.Irecv(whole(into), MPI.PROC_NULL).Wait()
    requests = [comm.Irecv(whole(into, 1), left, 10 + i) for i in range(4)]
    requests += [comm.Issend(whole(out, 1), right, 10 + i) for i in range(4)]
    done = 0
    while done < 3:
        done += MPI.Request.Waitany(requests) >= 0
    while True:
        indices = MPI.Request.Testsome(requests)
        if indices is None:
            break
    MPI.Request.Waitall(requests)
    pair = [comm.Recv_init(whole(into, 3), left, 20), comm.Send_init(whole(out, 3), right, 20)]
    for _ in range(3):
        MPI.Prequest.Startall(pair)
        MPI.Request.Waitall(pair)
    for request in pair:
        request.Free()
    cancelled = comm.Irecv(whole(into), left, 99)
    cancelled.Cancel()
    cancelled.Wait(status)
    assert status.Is_cancelled()


def collectives():
    comm.barrier()
    assert comm.bcast({"n": 3} if rank == 0 else None)["n"] == 3
    assert comm.allreduce(1) == size and comm.scan(1) == rank + 1
    comm.exscan(1), comm.gather(rank), comm.allgather("r" * rank), comm.alltoall([rank] * size)
    comm.scatter(list(range(size)) if rank == 0 else None), comm.reduce(rank, op=MPI.MAX)
    one, all_ = array.array("i", [rank]), array.array("i", [0] * size)
    comm.Allgather([one, MPI.INT], [all_, MPI.INT])
    comm.Gatherv([one, MPI.INT], [all_, [1] * size, list(range(size)), MPI.INT], root=size - 1)
    comm.Scatterv([all_, [1] * size, list(range(size)), MPI.INT], [one, MPI.INT])
    comm.Alltoall([all_, 1, MPI.INT], [array.array("i", [0] * size), 1, MPI.INT])
    comm.Allreduce(MPI.IN_PLACE, [all_, MPI.INT], op=MPI.MIN)
    comm.Reduce_scatter_block([all_, MPI.INT], [one, MPI.INT])
    requests = [comm.Ibarrier(), comm.Ibcast([all_, MPI.INT]), comm.Iallreduce(MPI.IN_PLACE, [all_, MPI.INT])]
    MPI.Request.Waitall(requests)
    op = MPI.Op.Create(lambda a, b, t: None, commute=True)
    comm.Allreduce([one, MPI.INT], [array.array("i", [0]), MPI.INT], op=op)
    op.Free()


def communicators():
    half = comm.Split(rank % 2, rank)
    half.Set_name("half")
    assert half.Get_name() == "half"
    copy = half.Dup()
    assert MPI.Comm.Compare(half, copy) == MPI.CONGRUENT
    again, request = comm.Idup()
    request.Wait()
    again.Free()
    copy.Free()
    if size > 1:
        inter = half.Create_intercomm(0, comm, (rank + 1) % 2, 7)
        inter.Get_remote_size(), inter.Get_remote_group().Free()
        inter.bcast("there", root=MPI.ROOT if rank == 0 else MPI.PROC_NULL if rank % 2 == 0 else 0)
        merged = inter.Merge(rank % 2 == 1)
        merged.Barrier()
        merged.Free()
        inter.Free()
    half.Free()
    world = comm.Get_group()
    some = world.Incl([0, size - 1]) if size > 1 else world.Incl([0])
    MPI.Group.Translate_ranks(some, list(range(some.size)), world)
    group = MPI.Group.Union(some, world)
    MPI.Group.Compare(group, world)
    created = comm.Create(some)
    if created != MPI.COMM_NULL:
        created.Free()
    for g in (group, some, world):
        g.Free()
    comm.Split_type(MPI.COMM_TYPE_SHARED).Free()
    keyval = MPI.Comm.Create_keyval(copy_fn=lambda c, k, v: v)
    comm.Set_attr(keyval, {"any": "object"})
    copy = comm.Dup()
    assert copy.Get_attr(keyval) == {"any": "object"}
    copy.Free()
    comm.Delete_attr(keyval)
    MPI.Comm.Free_keyval(keyval)
    info = MPI.Info.Create()
    info.Set("key", "value")
    assert info.Get("key") == "value" and info.Get("none") is None
    info.Dup().Free()
    comm.Dup_with_info(info).Free()
    info.Free()


def topologies():
    grid = comm.Create_cart(MPI.Compute_dims(size, 2), periods=[True, False])
    grid.Get_topo(), grid.Get_coords(rank), grid.Shift(0, 1), grid.Sub([True, False]).Free()
    grid.neighbor_allgather(rank)
    grid.Free()
    ring = comm.Create_dist_graph_adjacent([left], [right], [3], [4])
    assert ring.Get_dist_neighbors()[0] == [left]
    ring.neighbor_alltoall([rank])
    ring.Free()
    graph = comm.Create_graph(list(range(2, 2 * size + 2, 2)), [n for r in range(size) for n in ((r - 1) % size, (r + 1) % size)])
    graph.Get_neighbors(rank)
    graph.Free()


def types():
    types_ = [MPI.INT.Create_contiguous(3), MPI.INT.Create_vector(3, 1, 2), MPI.INT.Create_indexed([1, 2], [0, 4]),
              MPI.INT.Create_subarray([4, 4], [2, 2], [1, 1]), MPI.INT.Create_resized(0, 16), MPI.DOUBLE.Dup(),
              MPI.Datatype.Create_struct([1, 2], [0, 8], [MPI.INT, MPI.DOUBLE])]
    for t in types_:
        t.Commit()
        t.Get_envelope(), t.Get_contents(), t.Get_extent(), t.Get_true_extent(), t.Get_size()
    types_[1].Set_name("stride")
    comm.Sendrecv([out, 1, types_[1]], right, 1, [into, 1, types_[1]], left, 1)
    for t in types_:
        t.Free()
    packed = bytearray(512)
    at = MPI.INT.Pack(out, packed, 0, comm)
    MPI.INT.Unpack(packed[:at], 0, into, comm)


def errors():
    before = comm.Get_errhandler()
    comm.Set_errhandler(MPI.ERRORS_RETURN)
    try:
        comm.Send(whole(out, 1), dest=size + 3)
        raise AssertionError
    except MPI.Exception as e:
        assert e.Get_error_class() == MPI.ERR_RANK
    comm.Set_errhandler(before)
    before.Free()


def windows():
    window = MPI.Win.Allocate(256, 4, comm=comm)
    window.Fence()
    window.Put(whole(out, 4), right)
    window.Fence()
    window.Lock(right, MPI.LOCK_SHARED)
    window.Get(whole(into, 4), right)
    window.Accumulate(whole(out, 4), right, op=MPI.SUM)
    window.Flush(right)
    window.Unlock(right)
    window.Lock_all()
    window.Rput(whole(out, 1), right).Wait()
    window.Unlock_all()
    comm.Barrier()
    window.Free()


def files(path):
    f = MPI.File.Open(comm, path, MPI.MODE_CREATE | MPI.MODE_RDWR | MPI.MODE_DELETE_ON_CLOSE)
    f.Set_view(0, MPI.INT, MPI.INT)
    f.Write_at_all(rank * 16, whole(out, 16))
    f.Sync()
    comm.Barrier()
    f.Read_at(right * 16, whole(into, 16))
    f.Iread_at(0, whole(into, 4)).Wait()
    f.Seek(0)
    f.Get_position(), f.Get_size(), f.Get_amode(), f.Get_atomicity()
    f.Close()


for step in (communication, collectives, communicators, topologies, types, errors, windows):
    step()
if len(sys.argv) > 1:
    files(os.path.abspath(sys.argv[1]))
MPI.Get_version(), MPI.Get_library_version(), MPI.Get_processor_name(), MPI.Query_thread(), MPI.Is_thread_main()
if rank == 0:
    print("walk: done", flush=True)
