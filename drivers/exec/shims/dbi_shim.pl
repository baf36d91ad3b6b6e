#!/usr/bin/perl
# A SQL session for rig through Perl's DBI: dbi_shim.pl
#
# It speaks the protocol of rig's docs/sql-programs.md, one session a process. The `connection` of a plan is a DSN of DBI:
# "dbi:SQLite:dbname=my.db", "dbi:Firebird:db=localhost/3050:/data/test.fdb;ib_dialect=3;ib_charset=UTF8".
#
# DBD::Firebird: every error has the SQLSTATE S1000, and the number is the SQLCODE (-913 a conflict, -901 a lock, -803 a key). A
# prepared statement ends with its transaction: executed afterwards, it does nothing and reports no error. The level is a
# parameter of the handle, which holds from the next transaction on: `isolation` of a session and a statement SET TRANSACTION
# both set it (see set_transaction below).
use strict;
use warnings;
use DBI qw(:sql_types);
use POSIX ();
use Time::HiRes qw(clock_gettime CLOCK_MONOTONIC);

open my $answers, '>&', \*STDOUT or die "dup: $!";
open STDOUT, '>&', \*STDERR or die "dup: $!";    # text that a library prints goes to the log, never between the answers
binmode $answers;
# JSON::XS (Debian: libjson-xs-perl) reads a text of 1 MB a hundred times as fast as JSON::PP, which every Perl has.
my $json = (eval { require JSON::XS; 'JSON::XS' } || do { require JSON::PP; 'JSON::PP' })->new->utf8->canonical;
my ($database, $autocommit, $session);
my $kept_most = 256;
my (%kept, @kept);                               # prepared statements by their text, and the texts in the order of preparation

sub answer {
    my $line = $json->encode({@_}) . "\n";
    while (length $line) {
        my $written = syswrite($answers, $line) // exit 1;    # rig is gone
        substr($line, 0, $written, '');
    }
}

# A reason of this program's own is a text with a line feed at its end.
sub refuse { die {state => '', code => 0, text => $_[0]} }

# DBI says by `err`, not by its results, whether a call failed: DBD::Firebird returns true values with an error set.
sub check {
    my ($handle) = @_;
    return if !$handle->err;
    my ($state, $code) = ($handle->state // '', $handle->err);
    die {state => $state eq '00000' ? '' : $state, code => $code =~ /^-?\d+$/ ? $code + 0 : 0, text => text_of($handle->errstr)};
}

# DBI drivers take and give bytes of UTF-8, unless they mark a text as characters.
sub text_of { my ($cell) = @_; utf8::decode($cell) if defined $cell && !utf8::is_utf8($cell); return $cell }
sub bytes_of { my ($text) = @_; utf8::encode($text) if defined $text; return $text }

# Firebird's SET TRANSACTION as parameters of the handle: the driver begins transactions itself. True: it was one.
sub set_transaction {
    my ($handle, $text) = @_;
    return 0 if $handle->{Driver}{Name} ne 'Firebird' || $text !~ /^\s*SET\s+TRANSACTION\b/i;
    my $level = $text =~ /READ\s+COMMITTED/i ? ['read_committed', $text =~ /NO\s+RECORD_VERSION/i ? 'no_record_version' : 'record_version']
      : $text =~ /TABLE\s+STABILITY/i ? 'snapshot_table_stability' : 'snapshot';
    my $wait = $text =~ /\bNO\s+WAIT/i ? 'no_wait' : $text =~ /LOCK\s+TIMEOUT\s+(\d+)/i ? {wait => $1 + 0} : 'wait';
    $handle->func(-access_mode => $text =~ /READ\s+ONLY/i ? 'read_only' : 'read_write', -isolation_level => $level,
        -lock_resolution => $wait, 'ib_set_tx_param');
    check($handle);
    return 1;
}

# The words of Firebird's SET TRANSACTION for a level, or undef.
sub firebird_level {
    my ($level) = @_;
    return 'SNAPSHOT TABLE STABILITY' if $level eq 'SERIALIZABLE';
    return $level =~ /^(?:SNAPSHOT(?: TABLE STABILITY)?|READ COMMITTED(?: (?:NO )?RECORD_VERSION)?)(?: NO WAIT| LOCK TIMEOUT [0-9]+)?$/ ? $level : undef;
}

sub open_session {
    my ($how) = @_;
    refuse("session $session is open: dbi_shim.pl has one session a process; start another process") if $database;
    my ($dsn, $user, $password) = map { $how->{$_} // $ENV{'RIG_SQL_' . uc $_} } qw(connection user password);
    refuse('there is no DSN: give one in the plan, or in RIG_SQL_CONNECTION') if !defined $dsn;
    $autocommit = $how->{autocommit};
    my $handle = DBI->connect($dsn, $user, $password,
        {RaiseError => 0, PrintError => 0, AutoCommit => $autocommit ? 1 : 0, LongReadLen => 16 << 20}); # a longer cell is an error
    die {state => $DBI::state // '', code => ($DBI::err // 0) =~ /^(-?\d+)$/ ? $1 + 0 : 0, text => text_of($DBI::errstr // 'no connection')} if !$handle;
    my $name = $handle->{Driver}{Name};
    if (defined(my $level = $how->{isolation})) {
        my $words = $name eq 'Firebird' ? firebird_level($level) : undef;
        refuse("DBD::$name has no call for isolation $level: let the dialect send a statement, or add the call here") if !defined $words;
        set_transaction($handle, "SET TRANSACTION $words");
    }
    $database = $handle;
    my $version = do { no strict 'refs'; ${"DBD::${name}::VERSION"} // '' };
    return (done => \1, driver => "DBD::$name $version");
}

# A statement is prepared again after an error: some drivers leave it in an unknown state.
sub prepare {
    my ($text) = @_;
    return $kept{$text} if $kept{$text};
    my $statement = $database->prepare(bytes_of($text));
    check($database);
    push @kept, $text;
    delete $kept{shift @kept} if @kept > $kept_most;
    return $kept{$text} = $statement;
}

sub run {
    my ($request) = @_;
    return (count => 0) if set_transaction($database, $request->{sql});
    my $statement = $request->{args} ? prepare($request->{sql}) : $database->prepare(bytes_of($request->{sql}));
    check($database);
    my @types = split //, $request->{types} // '';
    for my $i (0 .. $#{$request->{args} // []}) {
        my $integer = ($types[$i] // '') eq 'i';
        refuse("argument " . ($i + 1) . " is no integer") if $integer && ($request->{args}[$i] // 0) !~ /^-?[0-9]{1,19}$/;
        $statement->bind_param($i + 1, bytes_of($request->{args}[$i]), $integer ? SQL_BIGINT : SQL_VARCHAR);
        check($statement);
    }
    my $count = $statement->execute;
    check($statement);
    refuse('the driver did not execute the statement, and reports no error') if !defined $count;
    return (count => $count + 0) if !$statement->{NUM_OF_FIELDS};
    my @rows;
    while (my $row = $statement->fetchrow_arrayref) {
        push @rows, [map { defined $_ ? text_of("$_") : undef } @$row];
    }
    check($statement);
    return (rows => \@rows);
}

sub perform {
    my ($request) = @_;
    return open_session($request->{open}) if $request->{open};
    refuse("session $request->{session} is not open") if !$database || $request->{session} != $session;
    return run($request) if defined $request->{sql};
    if ($request->{close}) {
        $database->rollback if !$autocommit;
        (%kept, @kept) = ();
        $database->disconnect;
        undef $database;
    } elsif (!$request->{commit} && !$request->{rollback}) {
        refuse('a request is one of open, sql, commit, rollback, close');
    } else {
        refuse('this session has autocommit: its transactions end by SQL texts') if $autocommit;
        $request->{commit} ? $database->commit : $database->rollback;
        check($database);
        (%kept, @kept) = () if $database->{Driver}{Name} eq 'Firebird';
    }
    return (done => \1);
}

sub now { return int(clock_gettime(CLOCK_MONOTONIC) * 1e9) }

my $hello = eval { $json->decode(scalar(<STDIN>) // '') };
if (!$hello || ($hello->{role} // '') ne 'sql') {
    answer(error => 'the first line is to have "role": "sql"');
    die "dbi_shim.pl: the first line is not rig's for SQL sessions\n";
}
answer(ready => \1, version => "Perl DBI $DBI::VERSION");
while (defined(my $line = <STDIN>)) {
    my $request = eval { $json->decode($line) };
    if (ref $request ne 'HASH' || !defined $request->{id} || !defined $request->{session}) {
        print STDERR "dbi_shim.pl: a line is no request with an id and a session\n";
        POSIX::_exit(1);
    }
    my ($start, %result) = now();
    if (!eval { %result = perform($request); 1 }) {
        my $error = ref $@ ? $@ : {state => '', code => 0, text => "$@"};
        (%kept, @kept) = ();
        %result = (error => $error, alive => $database && $database->ping ? \1 : \0);
    } elsif ($request->{open}) {
        $session = $request->{session};
    }
    answer(id => $request->{id}, %result, start => $start, end => now());
}
POSIX::_exit(0);    # at once: no DESTROY that commits, the database rolls back
